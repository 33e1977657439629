"""What an agent says of its work: what claims that it is done, what only looks like it, in every language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.triggers.claims import Claims, clauses_of
from autogen_context.triggers.intent import Intent, intent_of
from support.turns import read, turn


@pytest.mark.parametrize(
    ("text", "done"),
    [
        pytest.param("I'm done.", True, id="plain"),
        pytest.param("THOUGHT: Great! All 31 tests pass.", True, id="tests"),
        pytest.param("1. The fix is complete and tested.", True, id="numbered"),
        pytest.param("Both complaints of the issue are resolved, and the manual says so.", True, id="resolved"),
        pytest.param("The fix now works as expected.", True, id="works"),
        pytest.param("Task completed.", True, id="without a verb"),
        pytest.param("Subtask complete", True, id="without a stop"),
        pytest.param("\u2705 **The parser implementation is complete.**", True, id="with a mark"),
        pytest.param("Step 2 complete.", True, id="numbered"),
        pytest.param("Issue resolved.", True, id="resolved"),
        pytest.param("Completed.", True, id="one word"),
        pytest.param("That completes the task.", True, id="that completes"),
        pytest.param("Finished implementing the feature.", True, id="done implementing"),
        pytest.param("Completed the migration to the new client.", True, id="completed what"),
        pytest.param("Not complete.", False, id="not complete"),
        pytest.param("The implementation is incomplete.", False, id="incomplete"),
        pytest.param("I need to complete the task.", False, id="to complete"),
        pytest.param("Complete the task.", False, id="an order"),
        pytest.param("Mark the task complete.", False, id="a mark to set"),
        pytest.param("Task complete?", False, id="a short question"),
        pytest.param("Once the task is complete, I report.", False, id="once complete"),
        pytest.param("Almost finished.", False, id="almost finished"),
        pytest.param("The API request completed.", False, id="something else completed"),
        pytest.param("Completed 3 of 10.", False, id="a part completed"),
        pytest.param("The function completes the word.", False, id="what it does"),
        pytest.param("Finished reading the file.", False, id="finished reading"),
        pytest.param("The script isn't done.", False, id="is not"),
        pytest.param("All done?", False, id="a question"),
        pytest.param("When everything is done, I will report.", False, id="when"),
        pytest.param("The task should be done by a script.", False, id="should"),
        pytest.param("The task is almost done.", False, id="almost"),
        pytest.param("Let me see whether all tests pass.", False, id="whether"),
        pytest.param("This function works by splitting the text.", False, id="how it works"),
        pytest.param("Done reading the file.", False, id="done reading"),
        pytest.param("The `task is done` message comes from the queue.", False, id="a name"),
    ],
)  # fmt: skip  # a row a sentence
def test_what_counts_as_done(text: str, done: bool) -> None:  # noqa: FBT001 - a column
    """A plain claim; no doubt, condition, plan or description."""
    assert Claims(text).done is done


def test_a_long_text_costs_no_more() -> None:
    """Beginning and end of what is said are read; what stands between claims nothing."""
    filler = "This is a long thought about nothing. " * 10_000
    assert Claims(f"I'm done. {filler}").done
    assert Claims(f"{filler} I'm done.").done
    assert not Claims(f"{filler} I'm done. {filler}").done


@pytest.mark.parametrize(
    ("done", "doubted", "asked"),
    [
        pytest.param("Super! Der Fehler ist behoben.", "Sobald der Fehler behoben ist, melde ich mich.", "Ist der Fehler behoben?", id="de"),
        pytest.param("Fertig, alle Tests laufen.", "Die Aufgabe ist noch nicht erledigt.", "Ist alles erledigt?", id="de, short"),
        pytest.param("Parfait, tous les tests passent.", "La correction n'est pas terminée.", "C'est terminé ?", id="fr"),
        pytest.param("J'ai terminé.", "Quand la tâche sera terminée, je vous le dirai.", "Terminé ?", id="fr, short"),
        pytest.param("El error está corregido.", "La tarea no está terminada.", "¿La tarea está terminada?", id="es"),
        pytest.param("Perfecto, ya está listo.", "Cuando la tarea esté terminada, avisaré.", "¿Está listo?", id="es, short"),
        pytest.param("O erro foi corrigido.", "A tarefa não está concluída.", "A tarefa está concluída?", id="pt"),
        pytest.param("Ótimo, terminei.", "Quando a tarefa estiver concluída, aviso.", "Já terminei?", id="pt, short"),
        pytest.param("L'errore è stato corretto.", "Il compito non è finito.", "Il compito è finito?", id="it"),
        pytest.param("Perfetto, ho finito.", "Quando il compito sarà finito, ti avviso.", "Finito?", id="it, short"),
    ],
)  # fmt: skip  # a row a language
def test_claims_in_other_languages(done: str, doubted: str, asked: str) -> None:
    """A plain claim; no doubt, condition or question."""
    assert [Claims(text).done for text in (done, doubted, asked)] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        pytest.param("Warum schlägt der Test fehl?", "DEBUG", id="de"),
        pytest.param("Je reproduis l'erreur.", "DEBUG", id="fr"),
        pytest.param("¿Por qué falla la prueba?", "DEBUG", id="es"),
        pytest.param("Vou reproduzir o erro.", "DEBUG", id="pt"),
        pytest.param("Perché fallisce il test?", "DEBUG", id="it"),
        pytest.param("Ich sehe mir den Lader an.", "EXPLORE", id="de, none"),
    ],
)
def test_intents_in_other_languages(text: str, intent: Intent) -> None:
    """A look with such words is for a fault."""
    assert intent_of(turn(0, text, read("loader.py"))) == intent


SENTENCES = (
    "I'm done.",
    "The fix now works!",
    "Once it is done, I report.",
    "Is it done?",
    "It still fails.",
)


@given(st.lists(st.sampled_from(SENTENCES), max_size=6), st.sampled_from([" ", "\n", "\n\n"]))
def test_sentences_are_judged_one_by_one(said: list[str], between: str) -> None:
    """Doubt in one sentence takes nothing from another, and no claim is made of two."""
    whole = Claims(between.join(said))
    assert whole.done == any(Claims(each).done for each in said)
    assert whole.next == any(Claims(each).next for each in said)


QUOTES = st.sampled_from(["`{}`", '"{}"', "\u201c{}\u201d", "```\n{}\n```", "\n> {}\n"])


@given(st.sampled_from(SENTENCES), QUOTES)
def test_what_is_quoted_claims_nothing(text: str, quote: str) -> None:
    """Code, and what somebody else said."""
    assert not Claims(f"The log has {quote.format(text)}").done


@given(st.text())
def test_clauses_say_what_the_text_says(text: str) -> None:
    """In order, in its words; each says something."""
    rest = " ".join(text.replace("\u2019", "'").split())
    for clause in clauses_of(text):
        first = clause.split()[0]
        assert first == "_" or first in rest
        assert clause == clause.strip()
