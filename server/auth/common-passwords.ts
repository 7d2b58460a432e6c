// Passwords that are guessed first. A list of words, and what people do to words to have them accepted: a capital letter, digits
// or signs at the end, digits for letters. Each word so stands for hundreds of entries of the lists that attackers use. Words of
// four letters and more; what is shorter than a password may be is here for its variants.

const words = `
password passwort passwd passw passphrase mypassword thepassword passwordpassword pass motdepasse contrasena contraseña senha parola
parole wachtwoord haslo haslo1 heslo salasana jelszo lozinka sifre parool losenord lösenord passord adgangskode mdp secret secreto
geheim topsecret letmein letmeinnow letmeinplease openup opensesame sesame welcome willkommen bienvenue bienvenido welkom benvenuto
login logmein signin access granted admin administrator adminadmin root toor rootroot superuser sysadmin user username guest default
changeme changethis changeit temp temporary test tester testing testtest testuser demo demodemo sample example master masterkey
qwerty qwertyu qwertyui qwertyuiop qwertz qwertzui qwertzuiop azerty azertyuiop asdf asdfg asdfgh asdfghj asdfghjk asdfghjkl zxcv zxcvb
zxcvbn zxcvbnm yxcvbnm qwer qwerasdf qweasd qweasdzxc qazwsx qazwsxedc wsxedc edcrfv qaz wsx qazxsw asdasd asdasdasd qweqwe qweqweqwe
zxczxc poiuytrewq lkjhgfdsa mnbvcxz wasd wasdwasd dvorak abcd abcde abcdef abcdefg abcdefgh abcdefghi abcdefghij abcabc aaaa bbbb xxxx zzzz
abc xyz xyzzy iloveyou iloveu ilovey iloveme ilovehim iloveher iloveyouso loveyou loveme lovely lover lovers love lovelove mylove
trustno trustnoone trustme whatever nothing nobody anything something everything idontknow dontknow forgot forgotten remember
monkey dragon shadow sunshine princess princesa principessa prinses football baseball basketball softball volleyball soccer hockey tennis
golf golfer golfing swimming fishing hunter hunting fisher rugby cricket fussball futbol calcio voetbal jordan michael michelle jessica
jennifer ashley amanda nicole daniel danielle andrew anthony matthew joshua justin brandon robert thomas charlie charles george william
william richard alexander alexandra alexis samantha samuel patrick patricia christian christina christine christopher stephanie stephen steven
jonathan jasmine jackson johnny johnson jeremy jeffrey barbara benjamin melissa elizabeth victoria veronica vanessa natalie natasha nathan
nicholas gabriel gabriela fernando francisco alejandro alejandra sebastian santiago carlos carolina catherine katherine kathleen caroline
angela angelina angelica andrea adriana antonio roberto ricardo eduardo manuel miguel daniela marcos martin martina maria mariana marie
julia juliana julian isabella isabelle emily emilia emma olivia sophia sophie hannah rachel rebecca sarah laura lauren linda lisa susan
sandra sabrina simone simon oliver oscar oskar peter paul philip phillip pascal pierre jacques claude claudia monica monika anna annika
annette johanna johannes juergen thorsten torsten wolfgang dieter guenter stefan stefanie sven bjorn andreas markus marcel michaela
nadine nadia yvonne yasmin mohamed mohammed muhammad ahmed ali hassan hussein fatima ibrahim mustafa mehmet ayse fatma zeynep
ivan dmitri dimitri vladimir natalia natalya tatiana svetlana sergey sergei alexei aleksandr marina irina galina olga
freedom liberty america american canada england london paris berlin madrid barcelona roma italia france deutschland germany espana
mexico brasil brazil argentina portugal poland polska russia india china japan tokyo australia sydney newyork chicago boston dallas texas
california florida hawaii vegas lasvegas losangeles houston phoenix denver seattle miami atlanta detroit philly brooklyn manhattan
arsenal chelsea liverpool manchester manchesterunited manutd everton tottenham newcastle celtic rangers realmadrid juventus milan
inter internazionale bayern bayernmunchen dortmund schalke benfica sporting porto boca bocajuniors riverplate flamengo corinthians palmeiras
yankees redsox cubs mets dodgers giants braves lakers celtics bulls knicks heat cowboys steelers packers eagles patriots raiders broncos
redskins dolphins vikings bears lions ravens saints chargers chiefs browns falcons panthers jaguars texans colts gators longhorns
buckeyes wolverines badgers huskers sooners seminoles hurricanes bulldogs bulldog tigers tiger wildcats wildcat mustang mustangs cougar
cobra viper falcon eagle phoenix panther jaguar leopard lion bear wolf wolves wolfpack husky puppy kitten kitty hellokitty pussycat cat
cats dog dogs doggie doggy doglover catlover horse horses pony unicorn butterfly dolphin turtle penguin rabbit bunny squirrel chicken
turkey duck ducky donkey elephant giraffe gorilla hamster hedgehog spider spiderman batman superman ironman hulk wolverine deadpool
captain avengers marvel starwars startrek skywalker lukeskywalker darthvader vader yoda jedi matrix neo trinity terminator rambo rocky
godzilla kingkong predator alien aliens gandalf frodo legolas aragorn mordor hogwarts harrypotter potter hermione gryffindor slytherin
pokemon pikachu charizard naruto sasuke sakura goku vegeta dragonball onepiece luffy sonic mario luigi nintendo playstation xbox
minecraft roblox fortnite callofduty halo zelda warcraft worldofwarcraft starcraft diablo counterstrike counter leagueoflegends steam gamer
games game player playboy hacker hacking cracker ninja samurai pirate pirates warrior soldier marine marines army navy airforce military
police fireman firefly fire ice water earth wind rain rainbow storm thunder lightning summer winter spring autumn fall sommer fruhling
herbst january february march april may june july august september october november december januar februar juni juli oktober dezember
monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag
christmas xmas halloween easter birthday happybirthday happy happyday smile smiley smiles lucky luckyday goodluck blessed blessing
jesus jesuschrist christ godisgood god lord heaven angel angels devil satan lucifer hell faith hope grace amen bible church holy spirit
diamond silver golden gold platinum crystal pearl ruby emerald sapphire amber orange purple yellow green blue red black white pink brown
violet blackie whitey redred bluesky skyblue blackcat cookie cookies chocolate vanilla strawberry banana apple apples cherry peaches peanut
pepper ginger sugar candy sweet sweetie sweety honey honeybee babygirl babyboy baby babe boomer buster bailey bandit maggie molly sadie
tigger snoopy garfield mickey mickeymouse minnie donald pooh winnie simba nala nemo stitch barney scooby scoobydoo tweety sylvester bugsbunny
pumpkin muffin cupcake pizza hamburger cheese cheeseburger coffee espresso cappuccino cocacola coke pepsi whiskey vodka tequila heineken
budweiser corona beer wine guinness jackdaniels marlboro ferrari porsche mercedes bmw audi volkswagen toyota honda nissan subaru mazda
chevrolet chevy camaro corvette mustanggt ford fordf dodge harley davidson harleydavidson yamaha suzuki kawasaki ducati truck trucker
computer internet windows windowsxp microsoft google facebook instagram twitter tiktok youtube yahoo hotmail gmail amazon netflix linkedin
myspace apple iphone ipad macbook android samsung galaxy nokia motorola sony siemens philips linux ubuntu debian unix oracle mysql
postgres database server network router cisco netgear linksys dlink tplink wifi wireless camera cameras webcam ipcam security hikvision
dahua axis nightjar system office business company manager service support helpdesk money dollar million millionaire cash rich
metallica nirvana slipknot linkinpark eminem beatles rollingstones pinkfloyd ledzeppelin ironmaiden acdc greenday blink blinkone
nineinchnails radiohead coldplay madonna beyonce rihanna shakira britney bieber justinbieber onedirection taylor taylorswift elvis
presley marley bobmarley music guitar piano drummer drums singer dance dancer dancing rock rockstar rocknroll punk metal jazz hiphop
rapper tupac biggie snoopdogg fiftycent sexy sexygirl sexything hotstuff hottie hotgirl hotboy bitch bitches asshole fuck fucker
fuckyou fuckme fuckoff fuckyoufuckyou shit bullshit pussy porn
naked nude horny sexsex hardcore eatme biteme suckit kissme kissmyass hugme hug kisses kiss killer killme kill
death dead zombie vampire twilight ghost skull skulls blood bloody dark darkness darkangel evil demon reaper slayer mother mommy mom
mama father daddy dad papa brother sister family familia familie friend friends bestfriend forever friendship amigo amigos amor teamo
teamomucho tequiero miamor corazon hermosa bonita chocolat doudou loulou soleil amour jetaime bonjour salut coucou azertyui nicolas
camille chouchou schatz schatzi liebling hallo hallohallo ichliebedich passwort sonnenschein sommerzeit baerchen mausi engel hase
hello hellohello hellothere helloworld goodbye thankyou please peace peaceout victory winner winning champion champ number numberone
power powerful energy electric flower flowers daisy lily rose roses tulip garden ocean beach island sunset sunrise moonlight moon star
stars stargate starlight galaxy universe planet pluto jupiter saturn mercury venus apollo zeus athena hercules titan titanic atlantis
legend legendary hero heroes champion knight knights excalibur merlin wizard magic magical mystery fantasy finalfantasy dreams dreamer
sweetdreams dream cool coolio cooldude awesome amazing fantastic wonderful beautiful gorgeous pretty cutie cute cutiepie crazy
crazygirl lazy funny fun party partytime school college university student teacher doctor nurse lawyer engineer science chemistry
biology history english spanish homework education scooter skater skateboard snowboard surfer surfing bike biker bicycle motocross
racing racer speed speedy turbo rocket rockets bullet gunner shooter sniper trigger weapon hammer hardware tool tools toolman builder
jackass jackie jacob joseph jordan jordanno josephine kevin kimberly kelly kenneth kristin kristen larry leslie lindsay madison mackenzie
marlon maverick maxwell maximus melanie mercedes miranda mitchell morgan murphy nelson parker preston princeton raymond ronald ronaldo
cristiano messi leomessi neymar beckham zidane rooney maradona kobe lebron shaquille tyson russell sabrina savannah scott shannon shelby
sierra spencer stanley stella steelers sydney taylor teresa theresa tiffany timothy travis trevor tristan tyler valerie valentina
valentine vincent walter wendy wesley whitney winston winter zachary zoe access accesskey backup monitor keyboard mouse desktop laptop
printer screen software program project creative inside outside external private public personal control center central
correcthorsebatterystaple onetwothree onetwothreefour blahblah blah yadayada hahaha lalala lololol lol rofl yolo swag ohyeah
noway nope yesyes nono okok qwertyqwerty passpass adminpass adminpassword rootpassword userpassword mypass mysecret nopassword
nopass password1password letmein1 superstar supernova supersonic superman supergirl super superduper mustangs monkeys monster monsters
mermaid mexico mobile mother muffins naughty nirvana nomore norman october olivia oranges pacific packers pantera paradise
passion peaches peanuts pearljam penguins people pepsi phantom pickle pickles picture pimpin pinky pinkie pookie poopoo poop popcorn
poppy popeye potato prince private pumpkins quality queen queenie reggae reggie ripper robbie robin robinson rodney roland ronnie
rooster rosebud runner rusty sailing sailor sammy samson sandman scarface scarlet schooner scorpio scorpion scruffy seven sexylady
shalom sharks shorty simple simpson simpsons skippy slipper smokey smooth snickers snowball snowman snowflake solomon sparky special
spectrum spooky squirt stanley stargazer stinky stoner strange stupid success suckers sunflower sunny sunnyday surf sweetheart sweetpea
swordfish sword talisman tarheels tazmania teddy teddybear temppass testpass theman theboss theking thunderbird tinker tinkerbell tinkle
toilet tomato tornado tractor traffic transam trooper trouble truelove tweetybird undertaker united valkyrie vampires video viking volcano
voyager wachtwoord walker warlock warcraft watermelon webmaster weed western whatsup wildwood willow wilson windsurf wonder woody
wrestling writer xavier xanadu yankee yellowstone yogibear zebra zeppelin zxcvbnm1 asdfasdf asdfjkl jkl fghj hjkl tyui
`

/** Rows of keys and alphabets: any eight or more in a row are a pattern, not a password. */
const rows = [
  '01234567890123456789',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'qazwsxedcrfvtgbyhnujmikolp',
  '!@#$%^&*()_+',
  '!"§$%&/()=?',
]

const lookalikes: readonly (readonly [RegExp, string])[] = [
  [/[0]/g, 'o'],
  [/[1!|]/g, 'i'],
  [/[3€]/g, 'e'],
  [/[4@]/g, 'a'],
  [/[5$]/g, 's'],
  [/7/g, 't'],
]

/** Longer ones are not on anybody's list, however simple. */
const maxPatternLength = 24
/** What precedes or follows a word and is longer, is a secret of its own. */
const maxAddedLength = 6

const common: ReadonlySet<string> = new Set(words.split(/\s+/).filter((word) => word !== ''))

/** `password` in lower case. */
export function isCommonPassword(password: string): boolean {
  if ([...password].length > maxPatternLength) return common.has(password)
  if (isRepeated(password) || rows.some((row) => isAlong(row, password))) return true
  const cores = [password, password.replace(/^[\d\W_]+/, ''), password.replace(/[\d\W_]+$/, '')]
  cores.push(cores[1]!.replace(/[\d\W_]+$/, ''))
  const isShortChange = (core: string) => password.length - core.length <= maxAddedLength
  return cores.some((core) => isShortChange(core) && isWord(core)) || isDateLike(password)
}

function isWord(core: string): boolean {
  if (common.has(core)) return true
  const joined = core.replaceAll(/[\s._-]/g, '')
  if (common.has(joined)) return true
  const plain = lookalikes.reduce((text, [sign, letter]) => text.replaceAll(sign, letter), joined)
  return common.has(plain) || common.has(plain.replaceAll('i', 'l')) || isTwice(plain)
}

/** "monkeymonkey" */
function isTwice(text: string): boolean {
  const half = text.slice(0, text.length / 2)
  return half.length >= 3 && text === half + half && common.has(half)
}

/** "aaaaaaaa", "12121212", "abcabcabc" */
function isRepeated(text: string): boolean {
  return /^(.{1,4}?)\1+$/su.test(text)
}

/** Up or down a row, maybe with the same again: "12345678", "87654321", "qwertyuiop", "12345678910" */
function isAlong(row: string, text: string): boolean {
  const back = [...row].reverse().join('')
  return row.includes(text) || back.includes(text)
}

/** Digits alone that are a day of the last hundred years, the most usual of all numbers: "19841231", "31121984" */
function isDateLike(text: string): boolean {
  return /^(?:(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d|[0-3]\d(?:0\d|1[0-2])(?:19|20)\d\d|(?:0\d|1[0-2])[0-3]\d(?:19|20)\d\d)$/.test(
    text,
  )
}
