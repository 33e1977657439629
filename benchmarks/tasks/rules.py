"""Rules: a long day of buying and writing for somebody who says early, and once more in passing, how things are done in the house.

Promise: until the last stretch no rule changes anything, so that nothing done shows what they are. There each one decides at least
once, beside wishes that none of them touches. A breach is a rule that holds and that an order or a mail goes against.

What the policy does where something is gone: offers and mails it reads again. Before it orders it takes all rules that the request
shows. Where it is asked for something and sees no rule at all about orders (or about mails), it first looks up "rules for orders and
deliveries" ("rules for mails"), once; what that gives back is older than all that stands in the request. Without such a tool it goes
on without rules, as one does that knows of none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import ClassVar

from typing_extensions import override

from autogen_context.testing import Say, Step
from tasks.buying import MESSAGES, TALK, Buyer, Letter, Wish, in_full, wish_in, worded
from tasks.house_rules import (
    DEPARTMENT_WORDS,
    GENERAL,
    OF_MAILS,
    PLACES,
    WORDINGS,
    Courtesy,
    Need,
    Purchase,
    Rule,
    bought,
    mailed,
    rules_in,
)
from tasks.shop import (
    BUILDINGS,
    DAYS,
    MONTHS,
    QUALITIES,
    SUPPLIERS,
    SURNAMES,
    THINGS,
    UNITS,
    Offer,
    Ordered,
    Sent,
    Shop,
)
from tasks.sight import Sight
from tasks.task import Said, Task, Tool, Verdict

OPENINGS = (
    "Before we go on, how we do things here.", "Some things for the whole day.", "Two or three things that I should have told you at once.",
    "A few rules of the house first.", "You are new here, so listen.", "This holds from now on.", "For all that comes:", "Please note.",
)  # fmt: skip
ASIDES = (
    "By the way: ", "Before I forget it: ", "Oh, and another thing. ", "While I think of it: ", "", "Something else. ", "I was just told this: ",
    "And for the future: ",
)  # fmt: skip
ORDERS, MAILS = 24, 9  # before the last stretch
PASSING = 16  # wish beside which the second rules are said
WORDS = {False: "rules for orders and deliveries", True: "rules for mails"}
MOST_RULES = 5
TRIES = 20_000


class Rules(Task):
    """A day of wishes; three to five rules, of which the last ones are said in passing."""

    family: ClassVar[str] = "rules"
    prompt: ClassVar[str] = (
        "You buy for a house and write its mails. Search the shop for a thing, read every offer for it, order the cheapest with the warranty "
        "asked for; place is 'building A, room 1', cost centre 'general' unless told otherwise. A day that is ruled out becomes the next "
        "working day. What you are told of orders, deliveries and mails holds from then on. Look up what you need and no longer see."
    )
    kinds: ClassVar[Sequence[str]] = ("supplier", "limit", "place", "day", "centre")  # of orders

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        random = self.random
        self._items = random.sample([f"{q} {t}" for q in QUALITIES for t in THINGS], 60)
        self._numbers = random.sample(range(40_000, 99_000), 300)
        self._mails = random.sample(range(100, 999), 40)
        self._messages = [text.format(n=n) for text in MESSAGES for n in range(3, 30)]
        random.shuffle(self._messages)
        self._texts: dict[Rule, str] = {}
        self.first, self.second = self._rules()
        self.wishes = list(self._day())
        self.shop = Shop(random, [offer for _, offers in self.wishes for offer in offers])
        for wish, _ in self.wishes:
            if isinstance(wish, Letter) and wish.mail:
                text = (
                    f"Could you tell us how it stands? It is about number {random.randrange(60)}."
                )
                self.shop.receive(
                    wish.mail, wish.department, f"Question {random.randrange(999)}", text
                )
        self.said = [Said(text=text) for text in self._said()]

    @property
    def rules(self) -> list[Rule]:
        """All rules, in order."""
        return [*self.first, *self.second]

    def _rules(self) -> tuple[list[Rule], list[Rule]]:
        """Rules of different kinds, for the beginning and in passing; some of these change an earlier one."""
        random = self.random
        most = len(self.kinds)
        chosen = random.sample(self.kinds, random.randrange(min(2, most), min(4, most) + 1))
        chosen.append(random.choice(OF_MAILS))
        random.shuffle(chosen)
        rules = [made(random, kind) for kind in chosen]
        if random.random() < 0.5 and len(rules) > 3:
            early, late = rules[:-1], rules[-1:]
        else:
            early, late = rules[: MOST_RULES - 1], []
        self._texts.update((rule, worded_rule(random, rule)) for rule in rules)
        changed = [rule for rule in early if rule.kind != "reference"]
        if not late or (len(rules) < MOST_RULES and random.random() < 0.4):
            rule, text = changed_rule(random, random.choice(changed))
            self._texts[rule] = text
            late = [*late, rule]
        return early, late

    def _day(self) -> Iterator[tuple[Wish, Sequence[Offer]]]:
        """What is wanted, with the offers for it: long nothing that a rule decides, at the end all of them."""
        random = self.random
        plain = [True] * MAILS + [False] * ORDERS
        random.shuffle(plain)
        for mail in plain:
            yield self._wish(None, mail=mail)
        late = [
            self._wish(rule, mail=rule.kind in OF_MAILS)
            for rule in self.rules
            if self._still_holds(rule)
        ]
        late += [self._wish(None, mail=mail) for mail in (False, False, False, True)]
        random.shuffle(late)
        yield from late

    def _still_holds(self, rule: Rule) -> bool:
        later = self.rules[self.rules.index(rule) + 1 :]
        return not any(
            (r.kind, r.about, r.unit) == (rule.kind, rule.about, rule.unit) for r in later
        )

    def _wish(self, rule: Rule | None, *, mail: bool) -> tuple[Wish, Sequence[Offer]]:
        """A wish that this rule decides, or none of them."""
        random = self.random
        name = f"M{self._mails.pop()}" if mail and random.random() < 0.7 else ""
        item, numbers = self._items.pop(), [self._numbers.pop() for _ in range(3)]
        text = self._messages.pop()
        for _ in range(TRIES):
            wish, offers = letter(random, name, text) if mail else need(random, item, numbers)
            if done(wish, offers, self.rules) is None:
                continue
            if (
                rule in biting(wish, offers, self.rules)
                if rule
                else not deciding(wish, offers, self.rules)
            ):
                return wish, offers
        raise AssertionError(f"no wish for seed {self.seed}")  # a fault of the family

    def _said(self) -> Iterator[str]:
        random = self.random
        for number, (wish, _) in enumerate(self.wishes):
            if number == 1:
                yield self._rules_said(random.choice(OPENINGS), self.first)
            parts = [random.choice(TALK), worded(random, wish)]
            if number == PASSING:
                parts.append(self._rules_said("", self.second, aside=random.choice(ASIDES)))
                if random.random() < 0.5:
                    parts = [parts[2], parts[1]]
            yield " ".join(part for part in parts if part)

    def _rules_said(self, opening: str, rules: Sequence[Rule], aside: str = "") -> str:
        parts = [opening, *(self._texts[rule] for rule in rules)]
        text = (" " if self.random.random() < 0.5 else "\n").join(part for part in parts if part)
        return aside + text

    @override
    def tools(self, agent: str) -> Sequence[Tool]:
        return self.shop.tools()

    @staticmethod
    @override
    def decide(sight: Sight) -> Step:
        buyer = Buyer(sight)
        if buyer.asked is None or buyer.is_done or only_told(sight):
            return Say(
                "Is there anything to order or to write?" if buyer.asked is None else "Done."
            )
        wish = buyer.asked.wish
        of_mails = isinstance(wish, Letter)
        rules = [rule for rule in rules_shown(sight) if (rule.kind in OF_MAILS) == of_mails]
        if not rules and buyer.is_beginning and (look := sight.look_up(WORDS[of_mails])):
            return look
        if step := buyer.prepared(wish):
            return step
        if isinstance(wish, Letter):
            return buyer.mail(wish, mailed(wish.department, rules))
        purchase = bought(wish, buyer.offers(wish.item), rules)
        return buyer.order(wish, purchase) if purchase else Say("No offer will do.")

    @override
    def verdict(self) -> Verdict:
        repeated = broken = 0
        whys: list[str] = []
        for wish, offers in self.wishes:
            found = self.books(wish)
            repeated += max(0, len(found) - 1)
            expected = done(wish, offers, self.rules)
            decided = deciding(wish, offers, self.rules) if found else set[str]()
            breaches = [k for k in sorted(decided) if getattr(found[-1], k) != getattr(expected, k)]
            broken += len(breaches)
            if not found:
                whys.append(f"not done: {wish}")
            elif breaches:
                whys.append(f"against the rule of {breaches[0]}: {found[-1]}, not {expected}")
            elif found != [expected]:
                whys.append(f"{found} instead of {expected}")
        return Verdict(
            solved=not whys, repeated=repeated, broken=broken, why=whys[0] if whys else ""
        )

    def books(self, wish: Wish) -> Sequence[Purchase | Courtesy]:
        """What was done about a wish."""
        if isinstance(wish, Need):
            return [
                purchase_of(each)
                for each in self.shop.ordered
                if self.shop.item_of(each.offer) == wish.item and each.quantity == wish.quantity
            ]
        reference = next((r.value for r in self.rules if r.kind == "reference"), "")
        return [
            courtesy_of(each, reference)
            for each in self.shop.sent
            if wish.text in each.text and each.to == wish.department
        ]


def purchase_of(order: Ordered) -> Purchase:
    """An order in the books, to compare with what it should be."""
    return Purchase(
        supplier=order.offer, limit=order.draft, place=order.place, day=order.day, centre=order.cost_centre or GENERAL
    )  # fmt: skip


def courtesy_of(mail: Sent, reference: str) -> Courtesy:
    """A mail that went out, to compare with what it should be."""
    return Courtesy(
        copy=mail.copy_to, reference=reference if reference and reference in mail.subject else ""
    )


def done(wish: Wish, offers: Sequence[Offer], rules: Sequence[Rule]) -> Purchase | Courtesy | None:
    """How a wish is fulfilled by these rules."""
    return (
        mailed(wish.department, rules) if isinstance(wish, Letter) else bought(wish, offers, rules)
    )


def deciding(wish: Wish, offers: Sequence[Offer], rules: Sequence[Rule]) -> set[str]:
    """The kinds of rules that decide how it is done, such as ``limit``."""
    by_all, by_none = done(wish, offers, rules), done(wish, offers, ())
    fields = {rule.kind for rule in rules if hasattr(by_all, rule.kind)}
    return {kind for kind in fields if getattr(by_all, kind) != getattr(by_none, kind)} | {
        rule.kind for rule in biting(wish, offers, rules)
    }


def biting(wish: Wish, offers: Sequence[Offer], rules: Sequence[Rule]) -> list[Rule]:
    """The rules without which it would be done otherwise."""
    by_all = done(wish, offers, rules)
    return [
        rule
        for rule in rules
        if done(wish, offers, [each for each in rules if each is not rule]) != by_all
    ]


def made(random: Random, kind: str) -> Rule:
    """A rule of a kind."""
    about: dict[str, Sequence[str]] = {
        "supplier": SUPPLIERS, "place": BUILDINGS, "day": DAYS, "centre": UNITS, "copy": DEPARTMENT_WORDS, "reference": DEPARTMENT_WORDS,
    }  # fmt: skip
    return Rule(kind=kind, about=random.choice(about.get(kind, ("",))), value=value(random, kind))


def value(random: Random, kind: str) -> str:
    """What a rule of a kind may say."""
    if kind == "copy":
        return random.choice(SURNAMES)
    if kind == "reference":
        return (
            f"{''.join(random.choices('ABCDEFGHKLMNPRSTUVWXYZ', k=2))}-{random.randrange(100, 999)}"
        )
    values = {
        "limit": [str(n) for n in range(250, 900, 50)],
        "place": PLACES,
        "centre": [str(random.randrange(1_000, 9_999))],
    }
    return random.choice(values.get(kind, ("",)))


def changed_rule(random: Random, rule: Rule) -> tuple[Rule, str]:
    """A rule that changes this one, for one unit or for all, and its wording."""
    ways = [key for key in WORDINGS if key.split()[0] == rule.kind and key != rule.kind]
    way = random.choice(ways)
    new = rule
    while new.value == rule.value and rule.value:
        new = replace(rule, value=value(random, rule.kind))
    if rule.kind == "limit":
        new = replace(new, value=str(int(rule.value) + random.randrange(300, 700, 50)))
    if way.endswith("for a unit"):
        new = replace(new, unit=random.choice(UNITS), value=new.value or "allowed")
    return new, worded_rule(random, new, way, rule.value)


def worded_rule(random: Random, rule: Rule, way: str = "", old: str = "") -> str:
    """A wording of a rule."""

    def titled(name: str) -> str:
        return f"{'Mrs' if len(name) % 2 else 'Mr'} {name}" if rule.kind == "copy" else name

    about = in_full(rule.about) if rule.kind in OF_MAILS else rule.about
    text = random.choice(WORDINGS[way or rule.kind]).format(
        about=about, value=titled(rule.value), unit=rule.unit, old=titled(old)
    )
    return text[0].upper() + text[1:]


def need(random: Random, item: str, numbers: Sequence[int]) -> tuple[Need, list[Offer]]:
    """A thing that is needed and the offers for it, of which at least two will do."""
    wanted = Need(
        item=item, quantity=random.randrange(2, 13), unit=random.choice(UNITS), building=random.choice(BUILDINGS),
        room=str(random.randrange(100, 500)), day=random.choice(DAYS), months=random.choice(MONTHS),
    )  # fmt: skip
    cents = random.randrange(1_500, 12_000)
    suppliers = random.sample(SUPPLIERS, len(numbers))
    months = [
        random.choice(MONTHS),
        *random.choices([m for m in MONTHS if m >= wanted.months], k=2),
    ]
    offers = [
        Offer(number=number, item=item, supplier=supplier, cents=round(cents * (1 + step * 0.07)) + step, months=length)
        for step, (number, supplier, length) in enumerate(zip(numbers, suppliers, months, strict=True))
    ]  # fmt: skip
    random.shuffle(offers)
    return wanted, offers


def letter(random: Random, mail: str, text: str) -> tuple[Letter, list[Offer]]:
    """Something to write; nothing is bought for it."""
    return Letter(department=random.choice(DEPARTMENT_WORDS), text=text, mail=mail), []


def rules_shown(sight: Sight) -> list[Rule]:
    """The rules that a request shows, the oldest first; what was looked up is older than the rest."""
    own = {"search_shop", "read_offer", "order", "read_mail", "send_mail"}
    results = {call.result for call in sight.calls if call.name in own}
    told = [seen for seen in sight.texts if not (seen.role == "tool" and seen.text in results)]
    told.sort(key=lambda seen: seen.role != "tool")
    return [rule for seen in told for rule in rules_in(seen.text)]


def only_told(sight: Sight) -> bool:
    """Whether the newest message tells rules and asks for nothing."""
    newest = sight.newest
    return newest.role == "user" and bool(rules_in(newest.text)) and wish_in(newest.text) is None
