"""The mails that Segue Radio shows."""

from email.message import EmailMessage
from email.policy import SMTP

from segue.demo.radio.news import RadioNews
from segue.demo.radio.radio_mails import MOST_MAILS, RadioMails


def mail(subject: str) -> bytes:
    made = EmailMessage()
    made["From"], made["Subject"] = "Segue <demo@example.org>", subject
    made.set_content("An album.\n")
    made.add_alternative("<p>An album.</p>", subtype="html")
    return made.as_bytes(policy=SMTP)


def test_each_user_has_their_own_newest_first_and_pages_are_told() -> None:
    news = RadioNews()
    mails = RadioMails(news, lambda: 7.0)
    with news.page("ann") as page:
        mails.take(["ann@radio.example"], mail("Post"))
        mails.take(["ann@radio.example", "bob@radio.example"], mail("Début"))
        assert [each["subject"] for each in mails.of("ann")] == ["Début", "Post"]
        assert mails.of("ann")[0] | {"subject": ""} == {
            "id": 2,
            "to": "ann@radio.example",
            "from": "Segue <demo@example.org>",
            "subject": "",
            "text": "An album.",
            "ts_ms": 7000,
        }
        assert [page.get_nowait()[0], page.get_nowait()[1]["subject"], page.empty()] == ["mail", "Début", True]


def test_the_oldest_go() -> None:
    mails = RadioMails(RadioNews(), lambda: 7.0)
    for number in range(MOST_MAILS + 1):
        mails.take(["ann@radio.example"], mail(str(number)))
    assert [len(mails.of("ann")), mails.of("ann")[-1]["subject"]] == [MOST_MAILS, "1"]
