"""Secrets of files reach nothing that is told (F22), and what only looks like one stays."""

import string
from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.project.file_changes import ONLY_SECRETS
from autogen_context.project.project import ProjectContext
from autogen_context.project.secrets import HIDDEN, without_secrets
from support.coder import CHANGED, Coder, block
from support.texts import HOSTILE, TEXTS
from support.tree import SHOP, Counting, grown
from support.work import is_linear

TOKEN = "ghp_" + "a1B2c3D4e5" * 4
MANY = 40_000
KEY = "sk-" + "proj-" + "q8W7e6R5t4" * 3
AWS = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYzz9k2m"
SECRETS = {
    "assignment": (f"AWS_SECRET_ACCESS_KEY = '{AWS}'", AWS),
    "annotated": ('PASSWORD: str = "correct horse"', "correct horse"),
    "default argument": ('def connect(retries=3, token="tok-8f3a9c"): ...', "tok-8f3a9c"),
    "annotated default": ("def f(api_key: str | None = 'a8f3k2m9'): ...", "a8f3k2m9"),
    "export": ("export API_KEY=abcdefghij", "abcdefghij"),
    "export in quotes": ('export API_KEY="plainpassphrase"', "plainpassphrase"),
    "inline code": ("Run `export STRIPE_SECRET=whs_8f7d6s5a` first.", "whs_8f7d6s5a"),
    "environment": ("os.environ['OPENAI_API_KEY'] = 'abcd1234efgh'", "abcd1234efgh"),
    "fallback": ("os.getenv('API_KEY', 'zz12yy34xx56')", "zz12yy34xx56"),
    "json": ('{"password": "swordfish"}', "swordfish"),
    "yaml": ("password: hunter2", "hunter2"),
    "other quote inside": ('password = "it\'s me 7"', "it's me 7"),
    "camel case": ('const apiKey = "q8w7e6r5t4";', "q8w7e6r5t4"),
    "go": ('apiKey := "zz99yy88"', "zz99yy88"),
    "define": ('#define API_KEY "abcd1234efgh"', "abcd1234efgh"),
    "address": ('DATABASE = "postgres://admin:s3cret@db/x"', "s3cret"),
    "bearer": ("curl -H 'Authorization: Bearer abcdef0123456789abcdef'", "0123456789"),
    "known form": (f"url = base + '{TOKEN}'", TOKEN),
    "known form in prose": (f"The old key was {KEY}.", KEY),
    "no telling name": ('SALT = "kJ8sLq0Zx7Bv2Nm4Pw6Rt9Yc1Hd3Fg5A"', "kJ8sLq0Z"),
    "webhook": (
        "post to https://hooks.slack.com/services/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",
        "x9Y8z7W6v5U4",
    ),
    "mail service": ("key: " + "SG." + "aB3dE6gH9jK2mN5pQ8sT1v." + "x4Z7" * 10 + "a1B", "x4Z7x4Z7"),
    "signature in a query": (
        "https://a.blob.core.windows.net/c?sv=2022-11-02&sig=a1B2c3D4%2Be5F6g7H8i9J0k1L2m3N4o5P6q7R8%3D",
        "a1B2c3D4",
    ),
    "user on a command line": ("curl -u bob:swordfish https://example.com", "swordfish"),
    "password on a command line": ("mysql -h db -u root -pswordfish shop", "swordfish"),
    "option": ("deploy --token 8f3a9c1e7b2d", "8f3a9c1e7b2d"),
    "unquoted, unnamed": ("paste kJ8sLq0Zx7Bv2Nm4Pw6Rt9Yc1Hd3 there", "kJ8sLq0Zx7Bv"),
    "pass": ("DB_PASS=letmein99", "letmein99"),
    "pass, in quotes": ("'pass': 'letmein'", "letmein"),
    "Alibaba": ("LTAI" + "w8BFcqgMjkiTOstrHJij", "w8BFcqg"),
    "Airtable": ("pat" + "Kj6rgQvIE5FxaE." + "49a7" * 16, "49a749a7"),
    "Dynatrace": ("dt0c01." + "DZ5J" * 6 + "." + "KGDC" * 16, "KGDCKGDC"),
    "1Password": ("ops_" + "eyJ" + "q8W7" * 40, "q8W7q8W7"),
    "Asana": ("1/7087785964330172:" + "acb8" * 8, "acb8acb8"),
    "Braintree": ("access_token$" + "production$" + "dzeq" * 4 + "$" + "b55c" * 8, "b55cb55c"),
    "channel of Teams": (
        "https://x.webhook.office.com/webhookb2/" + "9ee1f49c@8c0d/IncomingWebhook/" + "a1b2" * 8,
        "a1b2a1b2",
    ),
    "signed address": ("https://h/b/o?X-Goog-Signature=" + "8128" * 32, "81288128"),
    "header of an application": ("-H 'DD-APPLICATION-KEY: " + "99f0" * 10 + "'", "99f099f0"),
    "shop": ("use shpat_" + "0123456789abcdef" * 2, "0123456789abcdef"),
    "host": ("dop_v1_" + "0123456789abcdef" * 4, "0123456789abcdef"),
    "data": ("dapi" + "0123456789abcdef" * 2, "0123456789abcdef"),
    "model": ("gsk_" + "abcdefghijKLMNOP" * 3, "abcdefghij"),
    "another model": ("xai-" + "abcdefghijKLMNOP" * 3, "abcdefghij"),
    "hook": ("whsec_" + "abcdefghijKLMNOP" * 2, "abcdefghij"),
    "tracker": ("lin_api_" + "abcdefghijKLMNOP" * 2, "abcdefghij"),
    "runner": ("r8_" + "abcdefghijKLMNOP" * 2, "abcdefghij"),
    "app": ("xapp-1-A012345-1234567890-" + "abcdef0123456789" * 2, "abcdef0123"),
    "age": ("AGE-SECRET-KEY-1" + "Q" * 58, "QQQQ"),
    "token in an address": (
        "git clone https://" + "0123456789abcdef" * 2 + "01234567@github.com/a/b",
        "0123456789",
    ),
    "hash": ("root:$6$abcdefgh$" + "abcdefghij" * 8 + ":19000:0", "abcdefghij"),
    "apache's hash": ("bob:$apr1$abcdefgh$" + "abcdefghijABCDEFGHIJKL", "abcdefghij"),
    "json token": ("the eyJ" + "a" * 20 + ".eyJ" + "b" * 20 + "." + "c" * 20, "bbbb"),
    "element": ("<user>bob</user><password>x7</password>", "x7"),
    "element of a long name": ("<db.password encrypted='no'>swordfish</db.password>", "swordfish"),
    "attribute": ('set <add key="DbPassword" value="correct horse" /> there', "correct horse"),
    "element with a name": ('<property name="db.password">swordfish</property>', "swordfish"),
    "entry of json": ('{"name": "DB_PASSWORD", "value": "swordfish"}', "swordfish"),
    "call that sets it": ("define( 'DB_PASSWORD', 'swordfish' );", "swordfish"),
    "call with a default": ("os.getenv('DB_PASS', 'postgres')", "postgres"),
    "method that sets it": ('user.setPassword("swordfish");', "swordfish"),
    "sql": ("CREATE USER shop IDENTIFIED BY 'swordfish';", "swordfish"),
    "netrc": ("machine example.org login bob password swordfish", "swordfish"),
    "number": ('{"user": "bob", "password": 12345678}', "12345678"),
    "field of an address": ("jdbc:mysql://h/db?user=bob&password=swordfish", "swordfish"),
    "connection": ('"Server=h;User Id=sa;Password=Swordfish;Database=x"', "Swordfish"),
    "connection, last": ('"Server=h;Uid=sa;Pwd=Swordfish"', "Swordfish"),
    "connection in words": ('psql "host=h password=swordfish user=bob"', "swordfish"),
    "definition for a program": ("java -Ddb.password=swordfish -jar a.jar", "swordfish"),
    "field of an option": ("helm install a --set auth.password=swordfish", "swordfish"),
    "option of a long name": ("wget --http-password=swordfish http://example.com", "swordfish"),
    "keytool": ("keytool -storepass swordfish -list", "swordfish"),
    "curl, joined": ("curl -s -uadmin:swordfish https://example.com", "swordfish"),
    "login": ("docker login -u me -p swordfish example.org", "swordfish"),
    "redis": ("redis-cli -h db -a swordfish PING", "swordfish"),
    "sshpass": ("sshpass -p swordfish ssh bob@h", "swordfish"),
    "quoted on a command line": ("mysql -u root -p'correct horse' shop", "horse"),
    "ldap": ("ldapsearch -D cn=bob -w swordfish", "swordfish"),
    "archive": ("unzip -P swordfish a.zip", "swordfish"),
    "openssl": ("openssl rsa -in a.pem -passin pass:swordfish", "swordfish"),
    "piped": ("echo swordfish | docker login -u me --password-stdin", "swordfish"),
    "piped to many": ("echo 'bob:swordfish' | sudo chpasswd", "swordfish"),
    "private key": (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEab\n-----END RSA PRIVATE KEY-----",
        "MIIEab",
    ),
}
HARMLESS = [
    "basic authentication is off",
    "API_KEY = os.environ['API_KEY']",
    "export API_KEY=$OTHER_KEY",
    "API_KEY=<your-key>",
    'api_key = "your-api-key-1"',
    'token: str = "name"',
    'PASSWORD_FIELD = "password"',
    "max_tokens = 800",
    "TOKEN_LIMIT = 4096",
    "def count(tokens: int = 3) -> Count: ...",
    "class Token(str): ...",
    "The token is kept. The password: ask Bob.",
    "secret-santa: the rule of 2024 says so",
    "redis://user:password@host:6379/0",
    "from autogen_context.tokens.measure import tokenizer_named",
    "commit 22548ee5d1c0a9b8e7f6a5b4c3d2e1f0a9b8c7d6",
    "id 550e8400-e29b-41d4-a716-446655440000, model gpt-4o-mini-2024-07-18",
    "https://example.com/search?q=how_to_write_good_tests_in_2024&page=2",
    "ContextWindowExceededError2 in test_that_a_turn_holds_for_100_messages",
    "def bypass(x): ...",
    "passes = 12345678",
    "compass: north99",
    "all tests pass: 12 of 12",
    "pass",
    "docker run -p 8080:80 -u 1000:1000 --name web nginx",
    "password = get_password()",
    "self.password = password",
    "password: str",
    "password: str | None = None",
    "token = None",
    'if password == "":',
    "def login(user, password, secret=None): ...",
    "    password=args.password",
    "The password is required.",
    "password required",
    '{"password": "Password", "secret": "secret"}',
    '{"pass": 12345678, "password_changed_at": 1690000000}',
    '{"password": {"type": "string"}}',
    '<label for="password">Password</label>',
    '<string name="password">Password</string>',
    '<input type="password" name="password" placeholder="Password"/>',
    '<xs:element name="password" type="xs:string"/>',
    "<password>${DB_PASSWORD}</password>",
    "<secretName>swordfish</secretName>",
    "define('DB_PASSWORD', getenv('DB_PASSWORD'));",
    "define('DB_PASSWORD', 'password_here');",
    "execute(\"CREATE USER a IDENTIFIED BY '%s'\" % password)",
    "user.setPassword(password);",
    "password: ${{ secrets.DB_PASSWORD }}",
    "password: !vault |",
    "password: *shared",
    "password_policy: strict",
    "secret = /run/secrets/database",
    "passwd:         files systemd",
    "password requisite pam_pwquality.so retry=3",
    "ENV DB_PASSWORD $PASSWORD",
    'curl -u "$USER:$PASSWORD" https://example.com',
    "curl -X POST -u https://example.com",
    "docker login -u me -p $PASSWORD",
    "docker login -u me --password-stdin < file",
    "redis-cli -a $PASSWORD",
    "mysql -u root -p shop",
    "Give the --db-password option with --password PASSWORD.",
    "#define sk_GENERAL_NAME_value(sk, idx) OPENSSL_sk_value(sk, idx)",
]
SETTINGS = {
    "one line": "password = {}",
    "ini": "; the shop\n[db]\nuser = bob\npassword = {}  ; of the host\n",
    "yaml": "db:\n  user: bob\n  password: {}\nhosts:\n  - one\n",
    "compose": "services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: {}\n    ports:\n      - '80:80'\n",
    "kubernetes": "env:\n  - name: DB_PASSWORD\n    value: {}\n",
    "properties": "spring.datasource.username=bob\nspring.datasource.password={}\n",
    "properties among others": "A long sentence stands here, and another one.\ndb.password={}\n",
    "connection": "Server=h;\nPassword={};\n",
    "redis": "port 6379\nrequirepass {}\nappendonly no\n",
    "netrc": "machine example.org\n  login bob\n  password {}\n",
    "a page": "# Shop\n\nWrite this to your settings, and then start the server:\n\n```yaml\nuser: bob\npassword: {}\n```\n",
    "image": "FROM a\nENV DB_PASSWORD {}\nRUN make -j 4 all\n",
    "crlf": "user=bob\r\ndb.password={}\r\n",
}
CODE = '''"""Log in with a password."""

from shop.keys import Secret


class Login:
    """What a login needs.

    password: correct
    """

    user: str
    password: Secret

    def go(self, given: str) -> None:
        """Ask."""
        password = given
        api_key = found
        self.ask(
            secret=prepared
        )
'''


@pytest.mark.parametrize(("line", "secret"), SECRETS.values(), ids=SECRETS)
async def test_f22_no_secret_reaches_what_is_told(line: str, secret: str, tmp_path: Path) -> None:
    """Not in source and in pages, at once or later; nor in the cache."""
    cache = Counting()
    root = grown(
        tmp_path / "shop", {**SHOP, "shop/conf.py": line, "README.md": f"# Shop\n\n{line}\n"}
    )
    context = ProjectContext(root, cache=cache, budget_tokens=20_000, count=len)
    head = (await context.current()).head
    grown(root, {"shop/new.py": f"LIMIT = 3\n{line}\n", "AGENTS.md": f"# Now\n\n{line}\n"})
    tail = (await context.current()).tail
    assert "shop/new.py" in tail
    assert secret not in head + tail + str(cache.built)
    assert HIDDEN in head


@pytest.mark.parametrize(("line", "secret"), SECRETS.values(), ids=SECRETS)
async def test_no_secret_is_told_of_a_file_that_changes(
    line: str, secret: str, coder: Coder
) -> None:
    """Neither when it comes, nor when another takes its place, nor when it goes."""
    path = coder.root / "a.py"
    path.write_text("one\n")
    coder.reads("a.py")
    told = await coder.turn()
    for text in (f"one\n{line}\n", f"one\n{line.replace(secret, secret[::-1])}\n", "one\ntwo\n"):
        path.write_text(text)
        coder.goes_on()
        told += await coder.turn()
    assert told
    assert secret not in str(told)
    assert secret[::-1] not in str(told)


async def test_what_changes_in_a_secret_alone_is_told_as_that(coder: Coder) -> None:
    """The agent knows that it has another key, and not which."""
    (coder.root / "a.py").write_text("API_KEY = 'abcd1234efgh'\n")
    coder.reads("a.py")
    await coder.turn()
    (coder.root / "a.py").write_text("API_KEY = 'zyxw9876vuts'\n")
    coder.goes_on()
    assert await coder.turn() == [block(CHANGED, f"> {ONLY_SECRETS}")]


async def test_what_this_clone_alone_ignores_is_not_told(tmp_path: Path) -> None:
    """By ``.git/info/exclude``; a ``.gitignore`` goes before it."""
    files = {".git/info/exclude": "*.local.py\n", ".gitignore": "!kept.local.py\n"}
    root = grown(tmp_path / "shop", {**SHOP, **files})
    for name in ("mine", "kept"):
        grown(root, {f"{name}.local.py": f"def of_{name}_alone(): ...\n"})
    context = ProjectContext(root, cache=Counting(), budget_tokens=20_000, count=len)
    head = (await context.current()).head
    assert "of_kept_alone" in head
    assert "of_mine_alone" not in head


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_in_a_long_line_is_found(name: str) -> None:
    """Wherever it stands; the line is read in parts."""
    line, secret = SECRETS[name]
    for words in (1, 40, 90, 400):
        assert secret not in without_secrets(f"{'so ' * words}\t{line}\t{'so ' * 400}")


@pytest.mark.parametrize("line", HARMLESS)
def test_what_is_no_secret_stays(line: str) -> None:
    """Names of secrets, where they are kept, and numbers."""
    assert without_secrets(line) == line


@pytest.mark.parametrize("name", SETTINGS)
def test_a_word_is_a_secret_in_a_text_of_settings(name: str) -> None:
    """Where no variable can stand; a placeholder and a word of a schema stay."""
    assert without_secrets(SETTINGS[name].format("swordfish")) == SETTINGS[name].format(HIDDEN)
    for value in ("required", "<password>", "changeme", "${PASSWORD}"):
        assert without_secrets(SETTINGS[name].format(value)) == SETTINGS[name].format(value)


def test_a_word_is_a_variable_in_code() -> None:
    """Also beside the name of a secret, on a line of its own."""
    assert without_secrets(CODE) == CODE


LETTERS = string.ascii_letters + string.digits
DJANGO = string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)"  # get_random_secret_key
WORDPRESS = LETTERS + "!@#$%^&*()-_ []{}<>~`+=,.;:/?|"  # wp_generate_password
DRAWN = {
    "django": ("SECRET_KEY = '{}'", DJANGO, 50),
    "wordpress": ("define('AUTH_KEY', '{}');", WORDPRESS, 64),
    "wordpress, nonce": ("define('NONCE_SALT', '{}');", WORDPRESS, 64),
    "address": ("postgres://u:{}@h/db", LETTERS + "!$%^&*-_=+{}<>", 16),
    "user": ("curl -u bob:{} https://example.com", LETTERS + "!$%^&*-_=+{}<>", 16),
    "shell": ("DB_PASSWORD={}", LETTERS + "!$%^&*-_=+{}<>", 20),
    "quoted": ("password = '{}'", LETTERS + "!$%^&*-_=+{}<>", 12),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_secret_is_hidden_whatever_it_contains(name: str) -> None:
    """A dollar, a brace or a word that placeholders have stands in many a secret."""
    form, signs, length = DRAWN[name]
    draw = Random(7)  # noqa: S311 - no secret of anybody
    values = ["".join(draw.choices(signs, k=length)) for _ in range(300)]
    assert [value for value in values if value in without_secrets(form.format(value))] == []


@pytest.mark.parametrize(
    "line",
    ["PASSWORD=myS3cr3tPw", "API_KEY=xxx9f8e7d6c5b4a3", "password = 'a$b9cD7efg'", "https://u:true1love@h/",
     "mongodb://admin:Pa$$w0rd@cluster0", "password = 'changemenot7'", "API_KEY=example9f8e7d6c"],
)  # fmt: skip
def test_a_secret_with_the_words_of_a_placeholder_is_hidden(line: str) -> None:
    """It is none unless it is one as a whole."""
    assert HIDDEN in without_secrets(line)


@pytest.mark.parametrize(
    "value",
    ["your-api-key", "your-api-key-1", "YOUR_API_KEY_HERE", "<password>", "<your-password-1>", "${DB_PASS}", "${DB_PASS:-x9}", "$DB_PASS",
     "{{ db_password }}", "{{db_pass1}}", "%DB_PASS1%", "%(password)s", "changeme", "change-me-1", "xxxxxxxx", "XXXX-XXXX-XXXX", "********",
     "sk-xxxxxxxxxxxxxxxxxxxx", "sk-...", "my-secret-token", "example_key", "{password}", "{settings.db_pass}", "${user}-${pass}", "placeholder1"],
)  # fmt: skip
def test_a_placeholder_stays(value: str) -> None:
    """In quotes, in an address, in an option, bare."""
    lines = f"password = '{value}'\nDB_PASSWORD={value}\npostgres://u:{value}@h/db\nrun --token {value}\nAPI_KEY: {value}"
    assert without_secrets(lines) == lines


@settings(max_examples=20)
@given(TEXTS, st.sampled_from(sorted(SECRETS)), TEXTS)
def test_lines_stay_lines(before: str, name: str, after: str) -> None:
    """Whatever stands around a secret; and a text without any stays."""
    line, secret = SECRETS[name]
    found = without_secrets(f"{before}\n{line}\n{after}")
    assert secret not in found or secret in before + after
    assert "\n" in line or found.count("\n") == (before + after).count("\n") + 2


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_end(text: str) -> None:
    """Tens of thousands of characters of the same, with a name in front."""
    for opening in (
        "password = '",
        "token=",
        "eyJ",
        "://",
        '"',
        "<password>",
        "curl -u",
        "password ",
        "machine ",
    ):
        without_secrets(opening + text[:MANY])


FORMS_AGAIN = (
    "LTAI", "pata.", "dt0c01.A", "ops_eyJ", "1/7:", "access_token$a$", "webhookb2/", "?a-Signature=", "?a-", "basic ", "basic a",
    "<password", "<password ", "<password>x<", 'name="password" ', "name: password\n", "name: password\nvalue: ", 'key="passwordpassword',
    "define('password', '", "ENV password ", "machine a login ", "default login a password ", "'password': ", "?password=", "&password=&",
    ";pwd=", "a=b password=", " -D", "--set password=", "identified by '", "setpassword('", "password=a\npassword=b ", "password ", "password\t \t",
    "a:", "a = ", "- ", "```\n", "curl -u", "curl -ua:", "curl mysql -p", "docker login ", "openssl -k ", "zip -P", "redis-cli -a ", "echo a | ",
    "--a-", "sk_", "sk_a_", "identified ", "[[", "{", "passpass", "secret_key", "api.key.", "password : => ",
)  # fmt: skip


@pytest.mark.parametrize("piece", FORMS_AGAIN)
def test_the_beginnings_of_forms_cost_what_they_are_long(piece: str) -> None:
    """On one line and on many."""
    for again in (piece, f"{piece}\n"):
        assert is_linear(without_secrets, partial(repeated, again))


def repeated(piece: str, chars: int) -> str:
    """A piece again and again."""
    return piece * (chars // len(piece))
