"""Who is cut off from whom."""

from segue.drill.cuts import Cuts


def test_one_who_is_cut_off_from_a_node_reaches_others_of_its_site() -> None:
    cuts = Cuts()
    assert not cuts
    cuts.part("sto/a", "sto/b")
    assert cuts
    assert cuts.between("sto/b", "sto/a")
    assert not cuts.between("sto/a", "sto/c")
    cuts.part("sto", "lon")
    assert cuts.between("sto/c", "lon/b")
    assert not cuts.between("sto/a", "sto/c")
    cuts.clear()
    assert not cuts.between("sto/c", "lon/b")
