"""Everyday sentences: what is said to be otherwise is replaced, what is another thing stays, what is stated is found."""

import pytest

from autogen_context.ledger import Ledger

UPDATES = (  # said first, said later, what is stale then, what holds
    ("Our monthly ad budget is 4,000 euros.", "We're raising the monthly ad budget to 5,500 euros.", "4,000", "5,500"),
    ("Delivery is due on 12 March.", "The delivery date has been pushed back to 2 April.", "12 March", "2 April"),
    ("Lena Vogt is our contact at the bank.", "Our contact at the bank is now Omar Haddad.", "Lena Vogt", "Omar Haddad"),
    ("We deploy to AWS.", "We have switched to GCP.", "AWS", "GCP"),
    ("The API runs on port 3000.", "The API now runs on port 4100.", "3000", "4100"),
    ("Tom Berger leads the design team.", "Sara Ilić has taken over the design team.", "Tom Berger", "Sara Ilić"),
    ("The meeting is on Tuesday at 10:00.", "The meeting has been rescheduled to Thursday at 15:30.", "Tuesday", "Thursday"),
    ("Use Celsius for temperatures.", "From now on use Fahrenheit for temperatures.", "Celsius", "Fahrenheit"),
    ("The password policy requires 8 characters.", "The password policy now requires 14 characters.", "8 characters", "14 characters"),
    ("The invoice total is $1,240.", "Correction: the invoice total is $1,420.", "1,240", "1,420"),
    ("Please answer in English.", "Please answer in German from now on.", "English", "German"),
    ("I prefer dark mode.", "Actually I prefer light mode.", "dark", "light"),
    ("We are working on branch feature/login.", "We moved to branch feature/sso.", "feature/login", "feature/sso"),
    ("The project is called Falcon.", "The project has been renamed to Osprey.", "Falcon", "Osprey"),
    ("My phone number is 555-0142.", "My new phone number is 555-0199.", "0142", "0199"),
    ("The wedding is on 4 June.", "We moved the wedding to 11 June.", "4 June", "11 June"),
    ("The rate limit is 100 requests per minute.", "The rate limit was raised to 250 requests per minute.", "100", "250"),
    ("We're going with Stripe for payments.", "Let's use Adyen for payments instead.", "Stripe", "Adyen"),
    ("The timeout is 30 seconds.", "Set the timeout to 45 seconds.", "30 seconds", "45 seconds"),
    ("Python 3.10 is the minimum version.", "The minimum version is Python 3.12 now.", "3.10", "3.12"),
    ("The flight leaves at 09:15.", "The flight now leaves at 11:40.", "09:15", "11:40"),
    ("The hotel is the Grand Meridian.", "We changed the hotel: it's the Casa Azul now.", "Grand Meridian", "Casa Azul"),
    ("The candidate's salary expectation is 72,000.", "Her salary expectation went up to 78,000.", "72,000", "78,000"),
    ("I want short summaries.", "I'd like long and detailed summaries from now on.", "short", "detailed"),
    ("Release manager this month is Ivo Petrov.", "Nina Falk is the release manager this month.", "Ivo Petrov", "Nina Falk"),
    ("The backup runs at 02:00.", "The backup has been moved to 04:30.", "02:00", "04:30"),
    ("We spend at most 20 dollars per gift.", "The limit per gift is now 35 dollars.", "20 dollars", "35 dollars"),
    ("The exam takes place in room 210.", "The exam will be held in room 315.", "210", "315"),
    ("The warehouse is in Leipzig.", "The warehouse moved to Dresden.", "Leipzig", "Dresden"),
    ("Times should be shown in UTC.", "Show times in CET instead.", "UTC", "CET"),
    ("The cake is chocolate.", "The cake will be lemon.", "chocolate", "lemon"),
    ("Shipping costs 7.90 euros.", "Shipping is now 9.90 euros.", "7.90", "9.90"),
    ("The version is 2.3.1.", "We upgraded, the version is 2.4.0.", "2.3.1", "2.4.0"),
    ("The tenant is Mr. Abara.", "The new tenant is Ms. Lindqvist.", "Abara", "Lindqvist"),
    ("We meet every Monday.", "We meet every Wednesday now.", "Monday", "Wednesday"),
    ("The gym membership costs 29 euros a month.", "The gym membership went up to 34 euros a month.", "29 euros", "34 euros"),
    ("Our supplier is Nordwind GmbH.", "We've replaced Nordwind GmbH with Seaside Foods as our supplier.", "supplier is Nordwind", "Seaside Foods"),
    ("Tests run on Node 18.", "Tests run on Node 22 now.", "Node 18", "Node 22"),
    ("The concert begins at 8 pm.", "The concert will begin at 7 pm.", "8 pm", "7 pm"),
    ("My dentist appointment is on 9 May.", "My dentist appointment got moved to 16 May.", "9 May", "16 May"),
    ("The chair of the committee is Dr. Wu.", "Prof. Adler is now the chair of the committee.", "Wu", "Adler"),
    ("Max file size is 10 MB.", "Max file size is 25 MB.", "10 MB", "25 MB"),
    ("Keep the text under 300 words.", "Keep the text under 450 words.", "300", "450"),
    ("Lunch will be delivered at 12:30.", "Lunch comes at 13:00 instead.", "12:30", "13:00"),
    ("We're using Jira for tickets.", "We no longer use Jira for tickets, it's Linear now.", "using Jira", "Linear"),
    ("Interest rate is 3.2 percent.", "The interest rate rose to 3.9 percent.", "3.2", "3.9"),
    ("The password is swordfish-1.", "The password has been changed to marlin-2.", "swordfish-1", "marlin-2"),
    ("I live in Porto.", "I moved to Braga last month.", "Porto", "Braga"),
    ("The trainer for the course is Ida Holm.", "Ida Holm is ill, so Per Lund will be the trainer for the course.", "trainer for the course is Ida", "Per Lund"),
    ("Send reports as PDF.", "Send reports as XLSX instead.", "PDF", "XLSX"),
    ("The alarm threshold is 85 degrees.", "Please lower the alarm threshold to 78 degrees.", "85", "78"),
    ("Group size is limited to 12 people.", "Group size is limited to 8 people.", "12", "8"),
)  # fmt: skip
DISTINCT = (  # two statements, and a value of each
    ("The front door code is 4412.", "The garage door code is 9920.", "4412", "9920"),
    ("The dev server is dev-1.lan.", "The test server is test-4.lan.", "dev-1", "test-4"),
    ("Ann's budget is 300.", "Bob's budget is 450.", "300", "450"),
    ("The first payment is 500 euros.", "The second payment is 700 euros.", "500", "700"),
    ("Flight out leaves on 3 May.", "Flight back leaves on 17 May.", "3 May", "17 May"),
    ("Never delete the users table.", "Never delete the orders table.", "users", "orders"),
    ("I like coffee.", "I like tea.", "coffee", "tea"),
    ("Use tabs in Makefiles.", "Use spaces in Python files.", "tabs", "spaces"),
    ("The frontend uses React.", "The backend uses Django.", "React", "Django"),
    ("Max is responsible for the food.", "Eva is responsible for the music.", "Max", "Eva"),
    ("The kitchen is 12 m2.", "The bathroom is 6 m2.", "12", "6"),
    ("Invoice 881 is paid.", "Invoice 882 is open.", "881", "882"),
    ("The soup must be served before 7pm.", "The dessert must be served before 9pm.", "7pm", "9pm"),
    ("The office in Rome opens at 8:00.", "The office in Oslo opens at 9:00.", "Rome", "Oslo"),
)  # fmt: skip
STATEMENTS = (
    "The Wi-Fi password is blue-Giraffe-77.",
    "Do not give my phone number to anyone.",
    "I'm left-handed.",
    "My daughter Mia is 7 and goes to Lincoln Primary.",
    "We have two cats, Miso and Tofu.",
    "The car's licence plate is KA-LM 482.",
    "Everything has to be gluten-free.",
    "Please always cite your sources.",
    "We close at 6 pm on Saturdays.",
    "Our CFO, Marta Ruiz, signs all contracts above 10k.",
    "The server room temperature shouldn't go above 24 °C.",
    "The goal for Q3 is 1,200 new signups.",
    "Ticket SUP-9921 is still open.",
    "Only admins may delete records.",
    "You may spend up to 80 euros without asking.",
    "The migration is half done, tables A and B are left.",
    "The API key lives in vault path secret/prod/api.",
    "There must be no animals in the video.",
    "Keep every paragraph under 90 words.",
    "Production data never leaves the EU.",
    "I can't do Tuesdays.",
    "Our brand colours are #FF6600 and #222222.",
    "It's important that the tone stays friendly.",
    "The patient is allergic to penicillin.",
    "Dose: 5 mg twice a day.",
    "The recipe serves 6 people.",
    "We're 14 people in total.",
    "Deliveries only through the back gate.",
    "The contract ends on 31 December 2026.",
    "He lives at 12 Rose Street.",
    "Logs are kept for 90 days.",
    "The key is under the third flower pot.",
    "Ask me before you book anything.",
    "Nothing goes live without Priya's OK.",
    "We rejected the proposal from Delta Systems.",
    "The budget approval is pending with Mr. Ito.",
    "Bus 42 stops right in front of the school.",
    "The dataset has 18,204 rows and 37 columns.",
    "Accuracy must be at least 92 %.",
    "Use the metric system.",
    "Nobody but Carla may open the safe.",
    "The pump delivers 40 litres per minute.",
    "Guests check in from 3 pm.",
    "We lost the tender against Bauer AG.",
    "My flat is on the 4th floor without a lift.",
    "The children are allergic to bees.",
    "Replies to customers go through Lena first.",
    "Parking is free after 18:00.",
    "The trial needs 60 volunteers.",
    "We want to publish the article in Nature.",
    "All screws are M6.",
    "Don't use the word cheap in the ads.",
    "Her passport number is C01X00T47.",
    "The loan runs for 10 years.",
    "The library closes for renovation in August.",
    "Every release needs two approvals.",
    "No deliveries on Sundays.",
    "The prototype must weigh less than 2 kg.",
    "The team decided against microservices.",
    "Only use sources from after 2020.",
)  # fmt: skip


def holding(*said: str) -> str:
    """What holds after a person said these."""
    ledger = Ledger()
    for position, text in enumerate(said):
        ledger.learn_text(text, position=position)
    return " | ".join(entry.text for entry in ledger)


@pytest.mark.parametrize(
    ("before", "after", "stale", "current"), UPDATES, ids=[row[1] for row in UPDATES]
)
def test_what_changed(before: str, after: str, stale: str, current: str) -> None:
    """The newer value stands, the older one does not."""
    text = holding(before, after)
    assert stale not in text
    assert current in text


@pytest.mark.parametrize(
    ("one", "other", "value", "second"), DISTINCT, ids=[row[0] for row in DISTINCT]
)
def test_what_is_another_thing(one: str, other: str, value: str, second: str) -> None:
    """Both stand, in whichever order they were said."""
    for text in (holding(one, other), holding(other, one)):
        assert value in text
        assert second in text


@pytest.mark.parametrize("sentence", STATEMENTS)
def test_what_is_stated(sentence: str) -> None:
    """Something is kept of each."""
    assert holding(sentence)
