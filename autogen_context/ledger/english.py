"""The English words by which statements are recognised and compared.

Promise: data only; the modules beside it say how it is read. Another language is another set of the same names.
"""

from autogen_context.language.query_english_words import GIVEN_NAMES

__all__ = ["GIVEN_NAMES"]

FIRST_WORDS = """
    a about add after all also an and any are as ask at avoid be because before book both but buy by call can change check
    cancel create delete deploy do does don't during each either email every everyone everything except fix for forget from
    get give go he help her here his how however i i'd i'll i'm i've if ignore in include is it it's its just keep later let
    let's like limit list look make maybe meanwhile meet move my never new next no nobody none not note now of on once one
    only open or our ours out over pay plan please put read remember remove report run save say schedule see send set she
    should show since skip so some start still stop store switch tell test than thank thanks that that's the their them
    then there there's these they this those to today tomorrow try under until up update use visit wait was we we'd we'll
    we're we've what when where which while who why will with without work write yes yesterday you you're your current
    always monthly weekly daily yearly annual internally officially initially currently finally unfortunately basically
    """

# Words that say nothing of what a statement is about.
FILLERS = "the a an please just really very quite simply basically actually currently kindly"
TELEGRAPHED = (
    "is are was were been being running located situated there its so this these any set called"
)
PADDING = "current total overall whole exact own latest"
LINKS = "of for"
PASSED_OVER = """
    is are was were be been being am the a an my our your his her their its this that these those it i we you he she they them us me user
    and or but so if then of for to in on at by from with as into onto within under over below above per about up down
    new old current currently latest previous former present recent updated now today week month year time total overall
    whole exact own very really actually still just also already again only both any all every each some other same
    value amount number official final working active main actual general
    has have had having do does did will would shall should must may might can could been being
    change changed update updated rotation rotate rotated move moved switch switched set keep stay stays remain
    quick please make makes made let get gets got use uses used using want wants need needs prefer
    decide decided decision agree agreed plan planned goal next step open question fact rule note
    not no never always don't doesn't more less most least than exceed maximum max minimum min
    starting instead anymore longer internal internally here there
    """

# Words that mean the same where statements are compared: the first stands for all.
SAME_WORDS = """
reveal disclose share leak tell expose publish show give print paste display
delete remove erase drop destroy wipe purge
send forward upload transmit mail email e-mail
deploy ship release rollout
run execute launchs
answer reply response message
duty pager on-call oncall escalation rotation shift
trip travel field-trip journey
docs documentation doc
database db
production prod
staging stage
repository repo
password passwords passphrase
customer client
employee staff
purchase buy order
meeting meet
region zone
picture photo image
car vehicle
flat apartment
film movie
colour color
organisation organization
people guest attendee participant headcount
reminder remind
project effort initiative endeavour
"""

MONEY_WORDS = r"budgets?|caps?|ceilings?|spend(?:ing)?|costs?|expenses?|expenditures?|allowances?|limits?|pays?|paid|charges?"
DATE_WORDS = (
    r"deadlines?|due|dates?|timing|ships?|shipping|launch(?:es)?|releases?|scheduled|go-live|go live|freez(?:e|es|ing)|frozen"
    r"|takes? place|took place|happens?|lands? on|falls? on|booked|planned|postponed|slipped|start(?:s|ed|ing)?|begins?|beginning"
    r"|ends?|finish(?:es|ed)?|expires?|done|finished|ready|complete[ds]?|closes?|opens?|delivered|delivery|arrives?|moved|pushed"
)
DATE_PASSED_OVER = (
    "deadline due date dates target timing times schedule scheduled take takes took place happen land lands fall book booked plan"
    " planned postponed slip slipped done finish finished ready complete completed move moved push pushed leave last later"
)
NAME_WORDS = r"code ?names?|names?|named|called|calling|call|designated|labels?|labell?ed|known as|dubbed|titled?|alias|nickname|christened"
NAME_PASSED_OVER = (
    "codename name names nickname call called calling designated label labels known dubbed alias"
)
DUTY_WORDS = r"on-call|on call|pager|dut(?:y|ies)|escalations?|standby|stand-by"
BRANCH_WORDS = r"branch(?:es)?|rebased (?:on|onto)|checked out|check out"
BRANCH_PASSED_OVER = "branch rebased development feature based base commit checked dev onto"
ZONE_PASSED_OVER = (
    "time times zone timezone timestamp timestamps clock clocks report reports reporting show put display reveal print write date"
    " dates status log logs give"
)
UNIT_WORDS = r"(?:metric|imperial|si|us customary)(?: (?:units?|system|measure(?:s|ments?)?))?"
ANSWER_WORDS = r"answers?|repl(?:y|ies)|responses?|responds?|answering|replying|explanations?|outputs?|tone|style|messages?|summar(?:y|ies)"
MANNER_WORDS = (
    r"terse|short|shorter|brief|concise|crisp|succinct|long|longer|detailed|verbose|in depth|elaborate|formal|informal|casual"
    r"|playful|warm|light|friendly|polite|serious|dry|funny|humou?rous|simple|plain|direct|blunt|chatty|style|tone|to the point"
)
LANGUAGES = (
    "english|german|french|spanish|italian|portuguese|dutch|swedish|norwegian|danish|finnish|polish|czech|russian|ukrainian"
    "|turkish|greek|arabic|hebrew|hindi|chinese|mandarin|japanese|korean|vietnamese|thai|indonesian"
)
# Things of which one is used at a time: what they are, and their names.
CHOICES = {
    "database": "postgres postgresql mysql mariadb sqlite oracle mongodb mongo dynamodb cassandra cockroachdb redis",
    "cloud": "aws gcp azure heroku hetzner digitalocean vercel netlify fly.io",
    "language": "python javascript typescript java kotlin golang rust ruby php scala elixir swift c# c++",
    "framework": "django flask fastapi rails spring react vue angular svelte next.js express laravel",
    "queue": "kafka rabbitmq nats sqs pulsar celery",
    "package manager": "npm yarn pnpm pip poetry uv conda",
    "test runner": "pytest unittest jest vitest mocha junit",
    "editor": "vim emacs vscode neovim pycharm",
    "carrier": "dhl ups fedex usps hermes dpd",
    "payment": "stripe paypal adyen klarna",
    "chat": "slack teams discord mattermost",
    "transport": "train plane bus car flight ferry",
    "format": "json yaml toml xml csv parquet",
}
CHOOSING = (
    r"us(?:e|es|ed|ing)|go(?:ing)? with|went (?:with|for)|go for|chose|choose|picked|pick|settled? on|switch(?:ed|ing)? to|migrat\w+ to"
    r"|mov(?:e|ed|ing) to|written in|write in|built? (?:with|on)|runs? on|deploy(?:ed|s)? (?:to|on)|stick(?:ing)? with|opted for|prefer|through|via|by|in"
)
# Of which one stands in whatever names the concept.
CONCEPT_WORDS = {
    "manner": "answer answers reply replies response responses respond responds answering replying explanation explanations output"
    " outputs tone style message messages summary summaries",
    "branch": "branch branches rebased checked check",
    "duty": "on call pager duty duties escalation escalations standby stand",
    "money": "budget budgets cap caps ceiling ceilings spend spending cost costs expense expenses expenditure expenditures"
    " allowance allowances limit limits pay pays paid charge charges",
    "units": "metric imperial si us",
    "called": "code codename codenames name names named called calling call designated label labels labeled labelled known dubbed"
    " title titled alias nickname christened",
    "date": "deadline deadlines due date dates timing ship ships shipping launch launches release releases scheduled go freeze freezes"
    " freezing frozen take takes took happen happens land lands fall falls booked planned postponed slipped start starts started"
    " starting begin begins beginning end ends finish finishes finished expire expires done ready complete completed completes"
    " close closes open opens delivered delivery arrive arrives moved pushed",
}
# Of the words of a concept, those that say which one.
KEPT = (
    "start starts started starting begin begins beginning end ends expire expires open opens close closes launch launches release"
    " releases ship ships shipping freeze freezes freezing frozen go-live delivery arrive arrives title"
)
DISCLOSING = r"\b(?:never|not|don't|nobody|must)\b.*\b(?:reveal|disclos|shar|leak|tell|told|expos|publish|giv)\w*\b"
DISCLOSING_PASSED_OVER = (
    "reveal without anyone anybody user outside consent approval permission done chat third party"
)
CHOICE_PASSED_OVER = (
    "use go with choose chose pick settle switch migrate deploy run stick opt rather because version instead let written write"
    " built on team stay back"
)
# Units, a row for each that are told from one another; the first stands for all.
UNITS = """
hours h hour minutes minute min mins seconds second sec secs s ms milliseconds days day nights night weeks week months month years year
percent %
kb mb gb tb kib mib gib bytes byte
mm cm m km metres meters metre meter miles mile feet
g kg grams gram kilos kilo tons lbs
degrees degree °c °f
fps
hz khz mhz ghz
rpm
rps
"""
# Nouns of which each thing has a number.
NUMBERED = (
    "channel|extension|ext|room|phone|number|port|version|release|page|line|floor|gate|platform|track|unit|bay|slot|table|seat|box"
    "|locker|desk|building|apartment|order|invoice|ticket|issue|pager|hotline"
)
# Words that say how something is measured, and not what.
MEASURE_WORDS = """
budget budgets cap ceiling limit limits price prices cost costs fee fees rate rates amount total sum spend spending allowance bonus
salary deadline due date dates day days week weeks month months year years hour hours minute minutes second seconds time times
evening morning night daily monthly weekly yearly today tonight tomorrow number numbers channel extension phone call room version
port level page line percent euros dollars pounds long much many half double minimum maximum most least up down reach only
people person everybody everyone anybody one two three four five six seven eight nine ten first last next
size count length width height weight speed age target value
since because therefore hence thus according out off over back away around again ever else still thing things way lot bit kind sort
work working start starts end ends finish open close early late later earlier before after
"""
