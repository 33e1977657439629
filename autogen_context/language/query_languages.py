"""What people say in other languages when they ask for the past, for a summary, or for neither.

Promise: data only; ``query_rules`` says how it is read. A language is one more entry here.
"""
# ruff: noqa: RUF001 - letters of other scripts are meant

from autogen_context.language.query_rules import Language, QueryKind, Rule

REASONS: dict[QueryKind, str] = {
    "casual": "asks to keep something in mind",
    "summary": "asks for the whole in short",
    "recall": "asks for the past",
}


def language(
    *,
    keeping: tuple[str, ...],
    summary: tuple[str, ...],
    recall: tuple[str, ...],
    spaced: bool = True,
) -> Language:
    """A language of three rules: what is to be kept in mind, what asks for a summary, what asks for the past."""
    phrases: dict[QueryKind, tuple[str, ...]] = {
        "casual": keeping,
        "summary": summary,
        "recall": recall,
    }
    rules = [Rule(kind=kind, reason=REASONS[kind], phrases=phrases[kind]) for kind in phrases]
    return Language(rules=tuple(rules), spaced=spaced)


GERMAN = language(
    keeping=(
        "(?:merk|merke|notier|notiere) dir",
        "(?:erinner|erinnere) mich (?:an (?:den|die|das)|daran|morgen|heute|um|in)",
        "vergiss nicht",
        "denk(?:e)? (?:daran|bitte daran)",
    ),
    summary=(
        "fass(?:e)? ... zusammen",
        "(?:zusammenfassung|überblick) ... (?:gespräch\\w*|unterhaltung|bisher|sitzung|besprochen)",
        "zusammenfassen ... (?:wir|bisher|gespräch\\w*)",
        "(?:gespräch|unterhaltung|sitzung|wir ... haben) ... zusammenfassen",
        "was haben wir (?:bisher|bis jetzt)",
        "wo stehen wir",
    ),
    recall=(
        "erinner(?:st|n)(?: du| sie) ",
        "(?:weißt|weisst|wissen|kennst)(?: du| sie) noch",
        (
            "(?:was|welche[nmrs]?|wie|wann|wo|wer|worüber|wovon|warum) ... (?:hast du|habe ich|haben wir|hatte ich|hattest du"
            "|hatten wir|hab ich|haben sie)"
        ),
        "(?:habe|hab|hatte) ich (?:dir|ihnen|schon|jemals|nicht)",
        "(?:haben|hatten) wir (?:schon|nicht|jemals|darüber)",
        "du (?:hast|hattest) ... (?:gesagt|erwähnt|empfohlen|vorgeschlagen|versprochen|gegeben|erzählt)",
        (
            "(?:wie|was) (?:ich|du|wir|besprochen|gesagt|erwähnt|vereinbart) ... "
            "(?:erwähnt|gesagt|besprochen|erzählt|vereinbart|habe|hast|haben)"
        ),
        "wie (?:besprochen|gesagt|vereinbart|erwähnt|beim letzten mal)",
        "letztes mal|beim letzten mal|vorhin|neulich",
        "(?:wie|was|wo|wer|wann|welche[rs]?) (?:war|hieß) ... (?:noch mal|nochmal|noch|gleich)",
        "(?:wie|was|wo|wer|wann|welche[rs]?) (?:heißt|ist|sind|war|hieß) mein(?:e|er|en)?",
    ),
)

FRENCH = language(
    keeping=(
        "(?:souviens-toi|rappelle-toi|retiens|note) que",
        "rappelle-moi (?:de|d')",
        "rappelle-moi d'\\w+",
        "n'oublie(?:z)? pas",
    ),
    summary=(
        "(?:résume|résumez|résumer|résumé) ... (?:conversation|discussion|échange|session)",
        "(?:résume|résumez|résumer|résumé) (?:de )?(?:tout )?ce (?:que|qu'on|qu'\\w+) ",
        "récapitul\\w+",
        "(?:qu'avons-nous|qu'est-ce qu'on a) ... jusqu'(?:ici|à présent|à maintenant)",
        "où en (?:sommes-nous|est-on)",
    ),
    recall=(
        "(?:tu te|te|vous vous|vous) (?:souviens|rappelles|souvenez|rappelez)(?:-tu|-vous)?",
        "rappelle-moi (?:ce|quel|quelle|qui|où|quand|comment|le|la|les)",
        (
            "(?:tu (?:as|avais|m'as|m'avais|l'as)|vous (?:avez|m'avez)|as-tu|avez-vous) "
            "(?:dit|mentionné|recommandé|suggéré|proposé|donné|promis|parlé)"
        ),
        (
            "(?:je t'ai|j'ai|je t'avais|je vous ai|t'ai-je|ai-je|avons-nous|avions-nous|on avait|on a|nous avons|nous avions)"
            " (?:dit|parlé|donné|mentionné|décidé|discuté|choisi|convenu|raconté)"
        ),
        "la dernière fois",
        "(?:tout à l'heure|l'autre jour)",
        "comme (?:convenu|discuté|je l'ai dit|avant|d'habitude)",
        "(?:quel|quelle|quels|quelles) (?:était|étaient|est|sont) (?:mon|ma|mes)",
        "comment s'appelle (?:mon|ma)",
    ),
)

SPANISH = language(
    keeping=(
        "(?:recuerda|recuerde|anota|apunta) que",
        "recuérdame \\w+r",
        "no (?:te )?olvides",
        "ten en cuenta",
    ),
    summary=(
        "(?:resume|resumir|resumen|resúmeme) ... (?:conversación|charla|sesión|discusión)",
        "(?:resume|resumir|resumen|resúmeme) (?:de )?(?:todo )?lo que",
        "(?:recapitula|recapitulemos|recapitular)",
        "qué (?:hemos|llevamos) ... (?:hasta ahora|hasta aquí)",
        "dónde (?:estamos|nos quedamos)",
    ),
    recall=(
        "te acuerdas|se acuerda|recuerdas|recuerda usted",
        "recuérdame (?:qué|cuál|quién|dónde|cuándo|cómo|el|la|lo)",
        (
            "(?:qué|cuál|cuándo|dónde|quién|cómo|cuánto) (?:me |te |le )?"
            "(?:dije|dijiste|dijimos|hablamos|decidimos|acordamos|recomendaste|mencionaste|conté|elegimos|sugeriste|pedí)"
        ),
        "(?:de|sobre) qué (?:hablamos|habíamos hablado|hemos hablado)",
        (
            "(?:que|lo que|como) (?:te |me |ya )?"
            "(?:dije|dijiste|hablamos|acordamos|mencionaste|mencioné|recomendaste|decidimos|conté|di|diste)"
        ),
        "te (?:dije|conté|hablé|mencioné|di) ",
        "la última vez",
        "(?:cuál|quién|dónde|cómo) (?:es|era|está|se llama|se llamaba) mi",
    ),
)

RUSSIAN = language(
    keeping=(
        "запомни\\w*",
        "напомни(?:те)? мне \\w+ть",
        "не забудь(?:те)?",
        "имей(?:те)? в виду",
    ),
    summary=(
        "(?:подведи|подвед[её]м|подведите) итог\\w*",
        "резюм\\w+ ... (?:бесед\\w+|разговор\\w*|обсужд\\w+|диалог\\w*|переписк\\w+)",
        "(?:кратко )?(?:суммируй|обобщи|перескажи) ... (?:бесед\\w+|разговор\\w*|обсуд\\w+|мы)",
        "что мы (?:уже )?(?:сделали|обсудили|успели) (?:до сих пор|на данный момент|к этому моменту)",
    ),
    recall=(
        "помнишь|помните|вспомни(?:шь|те)?",
        "напомни(?:те)?(?: мне)? (?:что|как|какой|какая|какие|где|когда|кто|о)",
        (
            "(?:ты|вы) ... (?:говорил|говорила|говорили|сказал|сказала|сказали|упоминал\\w*|упомянул\\w*|советовал\\w*|предлаг\\w+"
            "|предложил\\w*|рекомендовал\\w*|обещал\\w*)"
        ),
        (
            "я ... (?:тебе|вам) ... (?:говорил|говорила|называл|называла|рассказывал|рассказывала|сказал|сказала|дал|дала"
            "|рассказал|рассказала)"
        ),
        (
            "(?:что|как|какой|какую|какие|когда|где|о ч[её]м|почему) ... мы ... "
            "(?:решили|говорили|обсуждали|выбрали|договорились|обсудили)"
        ),
        "в (?:прошлый|последний) раз",
        "(?:как зовут|как звали|где|когда|какой|какая) (?:у меня )?(?:мо[йюяёи]\\w*|мою)",
    ),
)

CHINESE = language(
    spaced=False,
    keeping=("^(?:请|请你)?(?:帮我)?记住", "提醒我(?!.*(?:什么|哪|谁|多少))", "(?:不要|别)忘"),
    summary=(
        "(?:总结|概括|归纳|回顾|總結).{0,12}(?:我们|对话|聊天|讨论|会话|目前为止|我們|對話)",
        "(?:我们|对话|聊天|讨论|目前为止|到目前).{0,12}(?:总结|概括|摘要|总体)",
        "到目前为止.{0,6}(?:做了|完成了|讨论了)什么",
    ),
    recall=(
        "(?:还)?记得.{0,20}(?:吗|么|嘛|什么|谁|哪|多少|？|\\?)",
        "(?:上次|上一次|之前|刚才|刚刚|昨天|以前|先前|早些时候).{0,10}(?:说|聊|提|讨论|告诉|决定|给|推荐|建议|讲|谈|约定|选)",
        "(?:我|你|我们)(?:之前|刚才|上次|昨天|曾经).{0,4}(?:说|聊|提|讨论|告诉|决定|给|推荐|建议|讲|谈)",
        "你(?:说过|提到|提过|告诉过|推荐过|建议过|建议的|推荐的|答应过)",
        "我(?:说过|提到过|提过|告诉过你|跟你说过|给过你)",
        "我们(?:决定|商定|约定|讨论|聊)(?:过|了|的)",
        "我(?:的)?.{1,6}(?:叫什么|是谁|是什么时候|在哪)",
    ),
)

OTHER_LANGUAGES = (GERMAN, FRENCH, SPANISH, RUSSIAN, CHINESE)
