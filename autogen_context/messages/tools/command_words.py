"""What programs do: data for ``pipeline.tools.command_programs``.

Promise: every entry is the name of a program as it is called, without its folder; data only.

A program that stands in no table runs something.
"""

from collections.abc import Mapping


def listed(words: str) -> tuple[str, ...]:
    """Words that are written as one text."""
    return tuple(words.split())


def _rows(**rows: str) -> dict[str, str]:
    """Each word with the name of its row."""
    return {word: name for name, words in rows.items() for word in words.split()}


# Programs that read, and what they show of their files: all of it, a part by lines, or something else about them. The
# first argument of a filter is its program.
READERS: Mapping[str, str] = _rows(
    whole="cat bat less more nl tac open view type zcat Get-Content",
    part="head tail strings xxd hexdump od file stat wc diff cmp column cut sort uniq tr md5sum sha1sum sha256sum",
    filter="sed awk gawk jq yq",
)
# Programs that search; what they search for is their first argument, or they list places.
SEARCHERS: Mapping[str, str] = _rows(
    pattern="grep egrep fgrep zgrep rg ag ack fd fdfind Select-String",
    places="ls tree du locate which whereis dir find Get-ChildItem",
)
# Programs that write, and where the files whose content changes stand among their arguments.
WRITERS: Mapping[str, str] = _rows(
    all="rm tee mv unlink shred truncate Set-Content",
    last="cp ln install rsync",
    none="mkdir rmdir touch chmod chown patch apply_patch dd unzip tar zip gzip gunzip bzip2 xz",
)
# What the subcommands of git do; the others write, and it is not said which files.
GIT: Mapping[str, str] = _rows(
    read="diff show log status blame reflog describe rev-parse shortlog",
    search="grep ls-files ls-tree branch tag remote",
    write_files="checkout restore rm mv",
    none="add init config",
)

# Programs that test, and those that do when "test" is among the first of their arguments.
TESTERS = frozenset(
    listed(
        "pytest py.test unittest nose nosetests tox nox ctest rspec phpunit jest vitest mocha ava karma playwright cypress "
        "runtests.py runtests test tests trial behave bats stestr doctest"
    )
)
RUNNERS = frozenset(
    listed(
        "npm yarn pnpm bun go cargo make mvn mvnw gradle gradlew dotnet mix bazel deno zig swift manage.py rake composer just "
        "task nx lerna turbo sbt lein stack cabal flutter dart hatch setup.py django-admin"
    )
)
TEST_WORDS = frozenset(listed("test tests check nextest unit-test unittest pytest"))
SHELLS = frozenset(listed("bash sh zsh dash ksh fish"))
INTERPRETERS = SHELLS | frozenset(
    listed(
        "python python2 python3 py pypy pypy3 ipython node ts-node tsx deno ruby perl php lua julia Rscript"
    )
)

# They do nothing to see, or only for what comes behind them.
IDLE = frozenset(
    listed(
        "cd pushd popd export set source . echo printf sleep true false exit pwd clear alias unset wait read : history [ [[ "
        "ulimit umask trap shift return local declare kill date test for done fi in case esac function select"
    )
)
# Words in front of a command, with the number of their own arguments.
LEADING: Mapping[str, int] = {
    **dict.fromkeys(listed("sudo env nohup time xargs exec command nice stdbuf unbuffer npx bunx pnpx uvx parallel"), 0),
    **dict.fromkeys(listed("do then else if elif while until { } ! eval builtin winpty"), 0),
    **dict.fromkeys(listed("timeout gtimeout flock"), 1),
}  # fmt: skip  # three rows
LEADING_PAIRS = frozenset(
    {
        ("uv", "run"),
        ("poetry", "run"),
        ("pipenv", "run"),
        ("pdm", "run"),
        ("rye", "run"),
        ("hatch", "run"),
        ("bundle", "exec"),
        ("npm", "exec"),
        ("pnpm", "exec"),
        ("yarn", "exec"),
    }
)

# The flags that have a word of their own behind them.
VALUE_FLAGS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(["grep", "egrep", "fgrep", "zgrep"], frozenset(listed("-A -B -C -m -e -f -d -D"))),
    "rg": frozenset(listed("-A -B -C -m -e -f -g -t -T -j -M --glob --type --max-count")),
    **dict.fromkeys(["head", "tail"], frozenset(listed("-n -c --lines --bytes"))),
    "sed": frozenset(listed("-e -f -l --expression --file")),
    **dict.fromkeys(["awk", "gawk"], frozenset(listed("-F -v -f"))),
    "cut": frozenset(listed("-d -f -c -b")),
    "nl": frozenset(listed("-b -w -v -s -i -n")),
    "tree": frozenset(listed("-L -I -P")),
    "git": frozenset(listed("-C -c")),
    "xargs": frozenset(listed("-I -n -P -d -L -s -a")),
    "sudo": frozenset(listed("-u -g")),
    "nice": frozenset(["-n"]),
    "perl": frozenset(listed("-e -pe -ne")),
    **dict.fromkeys(["python", "python3"], frozenset(listed("-X -W"))),
}  # fmt: skip  # a row a program

# How much a test tells of what it does, not what it tests.
TEST_MANNERS = frozenset(
    listed(
        "-v -vv -vvv -q -qq -x -s -l -rA -ra -rs -rx --verbose --quiet --no-header --no-summary --exitfirst --showlocals "
        "--tb=short --tb=long --tb=line --tb=no --tb=native --tb=auto --color=no --color=yes --silent --failfast --bail "
        "--nocapture --no-cov --disable-warnings --cache-clear"
    )
)
