/** Dragging the rows of a list with a mouse, a pen or a finger. Arrow keys do the same without. */

/**
 * Returns what begins to drag the row at a position. `done(from, to)` is called when it is let go, perhaps where it was. Until then `list` has
 * the class "dragging", and must keep its rows.
 */
export function dragging(list: HTMLElement, done: (from: number, to: number) => void): (event: PointerEvent, from: number) => void {
  return (event, from) => {
    if (event.button !== 0) return;
    event.preventDefault(); // no text is selected
    const handle = event.currentTarget as HTMLElement;
    const rows = [...list.children] as HTMLElement[];
    const boxes = rows.map((each) => each.getBoundingClientRect());
    const row = rows[from]!;
    let to = from;
    handle.focus();
    handle.setPointerCapture(event.pointerId);
    row.classList.add("dragged");
    list.classList.add("dragging");

    const at = (y: number): number => boxes.filter((box, each) => each !== from && box.top + box.height / 2 < y).length;
    const over = ({ clientY }: PointerEvent): void => {
      to = at(clientY);
      rows.forEach((each, index) => {
        const shift = index === from ? clientY - event.clientY : index > from && index <= to ? -boxes[from]!.height : index < from && index >= to ? boxes[from]!.height : 0;
        each.style.transform = shift ? `translateY(${shift}px)` : "";
      });
    };
    const end = ({ type }: PointerEvent): void => {
      handle.removeEventListener("pointermove", over);
      handle.removeEventListener("pointerup", end);
      handle.removeEventListener("pointercancel", end);
      row.classList.remove("dragged");
      list.classList.remove("dragging");
      for (const each of rows) each.style.transform = "";
      done(from, type === "pointerup" ? to : from);
    };
    handle.addEventListener("pointermove", over);
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
  };
}
