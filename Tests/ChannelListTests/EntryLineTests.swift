import Testing

/// A line after `#EXTINF:`, and what it says: the channel, then its issues.
private let rows: [(when: String, line: String, says: [String])] = [
    ("only a name", "-1,BBC One", ["BBC One"]),
    ("a duration of zero", "0,BBC One", ["BBC One"]),
    ("a duration with decimals", "-1.0,BBC One", ["BBC One"]),
    ("a long duration", "3600,BBC One", ["BBC One"]),
    ("no duration", ",BBC One", ["BBC One"]),
    ("a space before the duration", " -1,BBC One", ["BBC One"]),
    ("a space before the comma", "-1 ,BBC One", ["BBC One"]),
    ("a space after the comma", "-1, BBC One", ["BBC One"]),
    ("spaces around the name", "-1,  BBC One  ", ["BBC One"]),
    ("tabs between attributes", "-1\ttvg-id=\"a\"\ttvg-chno=\"7\",N", ["N · id=a · no=7"]),
    ("several spaces between attributes", "-1   tvg-id=\"a\"    tvg-chno=\"7\" ,N", ["N · id=a · no=7"]),
    (
        "all common attributes",
        "-1 tvg-id=\"bbc1.uk\" tvg-name=\"BBC 1\" tvg-logo=\"http://l/1.png\" tvg-chno=\"101\" group-title=\"UK\",BBC One",
        ["BBC One · id=bbc1.uk · tvg=BBC 1 · no=101 · logo=http://l/1.png · groups=UK"]
    ),
    ("empty values", "-1 tvg-id=\"\" tvg-name=\"\" tvg-logo=\"\" group-title=\"\",BBC One", ["BBC One"]),
    ("empty single quotes", "-1 tvg-id='' group-title='',BBC One", ["BBC One"]),
    ("attributes without duration", "tvg-id=\"a\",N", ["N · id=a"]),
    ("no space after the duration", "-1tvg-id=\"a\",N", ["N · id=a"]),

    // Commas.
    (
        "commas in the attributes and in the name",
        "-1 tvg-name=\"The Good, the Bad and the Ugly\" group-title=\"Movies\",The Good, the Bad and the Ugly",
        ["The Good, the Bad and the Ugly · tvg=The Good, the Bad and the Ugly · groups=Movies"]
    ),
    (
        "a comma in the guide id",
        "-1 tvg-id=\"ABC (WKBW) Buffalo, NY HD\" group-title=\"US/CA Entertainment\",ABC East CA SD",
        ["ABC East CA SD · id=ABC (WKBW) Buffalo, NY HD · groups=US/CA Entertainment"]
    ),
    (
        "commas in the logo",
        "-1 tvg-logo=\"https://l/MV5B._V1_UX182_CR0,0,182,268_AL_.jpg\" group-title=\"FILMES - ACAO\",Filme",
        ["Filme · logo=https://l/MV5B._V1_UX182_CR0,0,182,268_AL_.jpg · groups=FILMES - ACAO"]
    ),
    (
        "an image service's commas in the logo",
        "-1 tvg-logo=\"https://l/cs_srgb,f_auto,fl_strip_profile.lossy,q_auto:420/a.png\",N",
        ["N · logo=https://l/cs_srgb,f_auto,fl_strip_profile.lossy,q_auto:420/a.png"]
    ),
    (
        "a group that ends in a comma", "-1 group-title=\"(.*),(.*),\",Ahla Al Qaseed FM",
        ["Ahla Al Qaseed FM · groups=(.*),(.*),"]
    ),
    ("a comma straight after the duration", "-1, tvg-id=\"x\" group-title=\"y\",Name", ["Name · id=x · groups=y"]),
    ("a comma without space before attributes", "-1,tvg-id=\"x\" group-title=\"y\",Name", ["Name · id=x · groups=y"]),
    (
        "a comma between all attributes", "-1,tvg-id=\"x\",tvg-name=\"n\",group-title=\"y\",Name",
        ["Name · id=x · tvg=n · groups=y"]
    ),
    (
        "comma and space between attributes", "-1 tvg-id=\"x\", tvg-logo=\"http://l/a\", group-title=\"y\", Name",
        ["Name · id=x · logo=http://l/a · groups=y"]
    ),
    ("an unknown attribute after the comma", "-1,channelID=\"x\" tvg-chno=\"1\",Name", ["Name · id=x · no=1"]),
    ("a name that begins with a comma", "-1,,Name", [",Name"]),
    ("a name with many commas", "-1 tvg-id=\"a\",One, Two, Three", ["One, Two, Three · id=a"]),
    ("an equals sign in the name", "-1,Sky F1=HD", ["Sky F1=HD"]),
    ("a space and an equals sign in the name", "-1 tvg-id=\"a\",Sky F1 = HD", ["Sky F1 = HD · id=a"]),
    ("a space between the last value and the comma", "-1 catchup-days=\"1\" ,Name", ["Name"]),
    ("a name in quotes", "-1 tvg-id=\"a\",\"Name\"", ["\"Name\" · id=a"]),

    // Quotes.
    (
        "quotes inside of quotes", "-1 tvg-name=\"This is \"a test\"\" tvg-logo=\"http://l/a\",This is \"a test\"",
        ["This is \"a test\" · tvg=This is \"a test\" · logo=http://l/a"]
    ),
    (
        "a quoted word in the middle of a value", "-1 tvg-name=\"The \"Big\" Show\" tvg-id=\"b\",The Big Show",
        ["The Big Show · id=b · tvg=The \"Big\" Show"]
    ),
    (
        "a quoted word and a comma in a value", "-1 tvg-name=\"The \"Big\", Show\" tvg-id=\"b\",The Big Show",
        ["The Big Show · id=b · tvg=The \"Big\", Show"]
    ),
    (
        "single quotes",
        "-1 channelID='9233008939' tvg-num='56' tvg-name='Olympic Channel' group-title='Sports',Olympic Channel",
        ["Olympic Channel · id=9233008939 · tvg=Olympic Channel · no=56 · groups=Sports"]
    ),
    (
        "an apostrophe in double quotes", "-1 tvg-name=\"UK: That's 60s\",UK: That's 60s",
        ["UK: That's 60s · tvg=UK: That's 60s"]
    ),
    (
        "an apostrophe in single quotes", "-1 tvg-name='That's 60s' group-title='Music',That's 60s",
        ["That's 60s · tvg=That's 60s · groups=Music"]
    ),
    (
        "an apostrophe and a space in single quotes", "-1 tvg-name='80's DIRECT' tvg-id='x',80's",
        ["80's · id=x · tvg=80's DIRECT"]
    ),
    ("an apostrophe and raised letters in the name", "-1,UK: 80'S - DIRECT ᴴᴰ", ["UK: 80'S - DIRECT ᴴᴰ"]),
    ("mixed kinds of quotes", "-1 tvg-id='a' tvg-name=\"b\",N", ["N · id=a · tvg=b"]),
    (
        "typographic quotes", "-1 tvg-id=“a” catchup=“append” group-title=“G H”,N",
        ["N · id=a · groups=G H", "2 unusableArchive(ChannelList.ProviderArchive.Fault.missingSource)"]
    ),
    ("German quotes", "-1 tvg-id=„a“ group-title=„G H“,N", ["N · id=a · groups=G H"]),
    ("a typographic quote at the beginning only", "-1 tvg-id=“a\" group-title=\"G\",N", ["N · id=a · groups=G"]),
    (
        "no space between attributes",
        "-1 tvg-name=\"Dash Radio | The Ranch\"tvg-id=\"Radio.Channel.(RADIO).ca\"tvg-chno=\"763\"group-title=\"📻 Radio\",The Ranch",
        ["The Ranch · id=Radio.Channel.(RADIO).ca · tvg=Dash Radio | The Ranch · no=763 · groups=📻 Radio"]
    ),
    ("bare values", "-1 tvg-id=foo tvg-chno=7 group-title=\"A\",N", ["N · id=foo · no=7 · groups=A"]),
    ("a bare value before the comma", "-1 tvg-id=foo,N", ["N · id=foo"]),
    ("a bare group with one word", "-1 group-title=News tvg-id=foo,N", ["N · id=foo · groups=News"]),
    (
        "spaces around the equals sign, and none", "-1 tvg-id = \"EPG\" tvg-name \"TVC HN\",TVC",
        ["TVC · id=EPG", "2 strayWord(\"tvg-name \\\"TVC HN\\\"\")"]
    ),
    ("spaces around every equals sign", "-1 tvg-id = \"a\" group-title = \"G\" , N", ["N · id=a · groups=G"]),
    (
        "a closing quote missing in the middle", "-1 tvg-id=\"a tvg-name=\"b\" group-title=\"G\",N",
        ["N · id=a · tvg=b · groups=G", "2 unclosedQuote(attribute: \"tvg-id\")"]
    ),
    (
        "a closing quote missing in a name of two words", "-1 tvg-name=\"Foo Bar tvg-id=\"x\",N",
        ["N · id=x · tvg=Foo Bar", "2 unclosedQuote(attribute: \"tvg-name\")"]
    ),
    (
        "the last closing quote missing", "-1 tvg-id=\"a\" group-title=\"Movies,Name",
        ["Name · id=a · groups=Movies", "2 unclosedQuote(attribute: \"group-title\")"]
    ),
    (
        "the closing quote of a logo missing", "-1 tvg-logo=\"http://l/a.png,Name",
        ["Name · logo=http://l/a.png", "2 unclosedQuote(attribute: \"tvg-logo\")"]
    ),
    ("an opening quote missing", "-1 tvg-id=a\" group-title=\"G\",N", ["N · id=a\" · groups=G"]),
    ("a doubled closing quote", "-1 tvg-id=\"a\"\" group-title=\"G\",N", ["N · id=a\" · groups=G"]),
    ("escaped quotes", "-1 tvg-name=\"The \\\"A\\\" Team\" tvg-id=\"a\",N", ["N · id=a · tvg=The \\\"A\\\" Team"]),
    (
        "an equals sign in a value", "-1 tvg-logo=\"http://l/a?w=1&logo=2&media=3\" tvg-id=\"a\",N",
        ["N · id=a · logo=http://l/a?w=1&logo=2&media=3"]
    ),

    // Names and words.
    ("no comma", "-1  1 $  CHANNEL 1", ["1 $  CHANNEL 1", "2 missingComma"]),
    (
        "no comma after attributes", "-1 tvg-id=\"a\" group-title=\"G\" The Name",
        ["The Name · id=a · groups=G", "2 missingComma"]
    ),
    ("no name", "-1 tvg-id=\"a\" tvg-name=\"B\",", ["B · id=a · tvg=B", "2 missingName"]),
    (
        "neither comma nor name", "-1 tvg-id=\"a\" tvg-name=\"B\"",
        ["B · id=a · tvg=B", "2 missingComma", "2 missingName"]
    ),
    ("no name but a station's title", "-1 tvc-guide-title=\"T\",", ["T · tvc-guide-title=T", "2 missingName"]),
    ("no name but an id", "-1 tvg-id=\"cnn.us\",", ["cnn.us · id=cnn.us", "2 missingName"]),
    ("nothing but a duration", "-1", ["1", "2 missingComma", "2 missingName"]),
    (
        "stray words before the comma", "-1 foo tvg-id=\"a\" bar,N",
        ["N · id=a", "2 strayWord(\"foo\")", "2 strayWord(\"bar\")"]
    ),
    (
        "a name of number signs", "-1 tvg-name=\"###### VIP ######\",###### VIP ######",
        ["###### VIP ###### · tvg=###### VIP ######"]
    ),
    ("a vertical bar in the name", "-1 group-title=\"UK|News\",UK | Sky News", ["UK | Sky News · groups=UK|News"]),
    ("a colon and slashes in the name", "-1,US: A&E / East (HD) [1080p]", ["US: A&E / East (HD) [1080p]"]),
    ("emoji in the name", "-1 group-title=\"🇬🇧 UK\",🔴 BBC One", ["🔴 BBC One · groups=🇬🇧 UK"]),
    ("Chinese", "-1 tvg-id=\"CCTV1\" group-title=\"央视频道\",CCTV-1 综合", ["CCTV-1 综合 · id=CCTV1 · groups=央视频道"]),
    ("Arabic", "-1 group-title=\"عربي\",الجزيرة مباشر", ["الجزيرة مباشر · groups=عربي"]),
    ("Cyrillic", "-1 group-title=\"Новости\",Первый канал", ["Первый канал · groups=Новости"]),
    ("text that was decoded wrongly before", "-1 group-title=\"TÃ©lÃ©\",TF1", ["TF1 · groups=TÃ©lÃ©"]),
    ("HTML entities", "-1 group-title=\"News &amp; Info\",A&amp;E", ["A&E · groups=News & Info"]),
    ("a zero-width space in the name", "-1,BBC\u{200B} One", ["BBC\u{200B} One"]),
    ("a no-break space around the name", "-1,\u{A0}BBC One\u{A0}", ["BBC One"]),
    ("a tab inside the name", "-1,BBC\tOne", ["BBC One"]),

    // Keys.
    (
        "capitals in keys", "-1 tvg-ID=\"14HD\" TVG-NAME=\"AR: BeIN Sports 14 HD\" Group-Title=\"G\",N",
        ["N · id=14HD · tvg=AR: BeIN Sports 14 HD · groups=G"]
    ),
    ("channel-id", "-1 channel-id=\"c\",N", ["N · id=c"]),
    ("CUID", "-1 CUID=\"c\",N", ["N · id=c"]),
    ("tvg-id before channel-id", "-1 channel-id=\"c\" tvg-id=\"t\",N", ["N · id=t"]),
    ("a key twice", "-1 tvg-id=\"a\" tvg-id=\"b\",N", ["N · id=a"]),
    ("unknown keys", "-1 audio-track=\"en\" foo=\"bar\" x-y_z.1=\"2\",N", ["N"]),
    ("ch-number", "-1 ch-number=\"5.1\",N", ["N · no=5.1"]),
    ("channel-number", "-1 channel-number=\"5\",N", ["N · no=5"]),
    ("tvh-chnum", "-1 tvh-chnum=\"5\",N", ["N · no=5"]),
    ("tvg-num", "-1 tvg-num='5',N", ["N · no=5"]),
    ("a number with leading zeros", "-1 tvg-chno=\"007\",N", ["N · no=007"]),
    ("a number that is none", "-1 tvg-chno=\"HD 5\",N", ["N", "2 malformedNumber(\"HD 5\")"]),
    ("a number with two points", "-1 tvg-chno=\"5.1.2\",N", ["N", "2 malformedNumber(\"5.1.2\")"]),
    ("a negative number", "-1 tvg-chno=\"-1\",N", ["N", "2 malformedNumber(\"-1\")"]),
    (
        "an endless number", "-1 tvg-chno=\"99999999999999999999\",N",
        ["N", "2 malformedNumber(\"99999999999999999999\")"]
    ),
    ("logo", "-1 logo=\"http://l/a\",N", ["N · logo=http://l/a"]),
    ("tvg-logo-small", "-1 tvg-logo-small=\"http://l/a\",N", ["N · logo=http://l/a"]),
    ("a space in the logo", "-1 tvg-logo=\"http://l/24 KZ.png\",N", ["N · logo=http://l/24%20KZ.png"]),
    ("a relative logo of a file", "-1 tvg-logo=\"24.png\",N", ["N · logo=24.png"]),
    ("a short logo as data", "-1 tvg-logo=\"data:image/png;base64,AAAA\",N", ["N · logo=data:image/png;base64,AAAA"]),
    (
        "a long logo as data",
        "-1 tvg-logo=\"data:image/png;base64,/9j/4AAQ\(String(repeating: "A", count: 9000))\" tvg-id=\"a\",N",
        ["N · id=a", "2 longValue(attribute: \"tvg-logo\")"]
    ),
    ("two groups", "-1 group-title=\"A;B\",N", ["N · groups=A;B"]),
    ("empty and equal groups", "-1 group-title=\"A; ;B;A;\",N", ["N · groups=A;B"]),
    ("radio", "-1 radio=\"true\",N", ["N · radio"]),
    ("radio with another word", "-1 radio=\"yes\",N", ["N"]),
    ("tvg-shift", "-1 tvg-shift=\"-4.5\",N", ["N · shift=-4.5"]),
    ("tvg-shift without quotes", "-1 tvg-shift=2,N", ["N · shift=2"]),
    (
        "attributes of Channels", "-1 channel-id=\"x\" tvc-guide-stationid=\"12345\" tvc-stream-vcodec=\"h264\",N",
        ["N · id=x · tvc-guide-stationid=12345 · tvc-stream-vcodec=h264"]
    ),
    (
        "catchup by default",
        "-1 catchup=\"default\" catchup-source=\"http://h/c?s={utc}&d={duration}\" catchup-days=\"7\",N",
        ["N"]
    ),
    (
        "catchup-type", "-1 catchup-type=\"flussonic\" catchup-days=\"5\",N",
        ["N", "2 unusableArchive(ChannelList.ProviderArchive.Fault.liveURL(mode: \"flussonic\"))"]
    ),
    (
        "catchup in capitals", "-1 catchup=\"XC\" catchup-correction=\"-2.5\",N",
        ["N", "2 unusableArchive(ChannelList.ProviderArchive.Fault.liveURL(mode: \"xc\"))"]
    ),
    ("timeshift alone", "-1 timeshift=\"3\",N", ["N"]),
    ("tvg-rec alone", "-1 tvg-rec=\"3\",N", ["N"]),
    ("no days of catch-up", "-1 tvg-rec=\"0\",N", ["N"]),
    (
        "a template with quotes of another kind", "-1 catchup=\"append\" catchup-source='?a=\"b\"&utc=${start}',N",
        ["N"]
    ),
    (
        "a template in APTV's dialect",
        "-1 catchup=\"append\" catchup-source=\"?playseek=${(b)yyyyMMddHHmmss}-${(e)yyyyMMddHHmmss}\",N",
        ["N"]
    ),
    ("a provider's own keys", "-1 xui-id=\"1{XUI}\" tvg-id=\"a\" timeshift=\"0\" ,N", ["N · id=a"]),
    (
        "tags of tvheadend", "-1 tvg-id=\"0a1b\" tvh-epg=\"0\" tvh-tags=\"TV channels|UHD\" tvg-chno=\"1\",N",
        ["N · id=0a1b · no=1"]
    ),
    ("a censored flag", "-1 censored=\"1\" parent-code=\"0000\" tvg-id=\"a\",N", ["N · id=a"]),
    (
        "a country and a language", "-1 tvg-id=\"a\" tvg-country=\"UK;IE\" tvg-language=\"English\" tvg-url=\"\",N",
        ["N · id=a"]
    ),
    ("status and ratio", "-1 status=\"online\" aspect-ratio=\"16:9\" tvg-id=\"a\",N", ["N · id=a"]),
    (
        "group-title last with a comma inside", "-1 tvg-id=\"a\" group-title=\"News, Sport\",BBC, One",
        ["BBC, One · id=a · groups=News, Sport"]
    ),
    (
        "a value that is one quote", "-1 tvg-id=\" tvg-name=\"b\",N",
        ["N · tvg=b", "2 unclosedQuote(attribute: \"tvg-id\")"]
    ),
    ("only an equals sign", "-1 =,N", ["N", "2 strayWord(\"=\")"]),
    ("a percent sign in the name", "-1,100% News", ["100% News"]),
    ("a backslash in the name", "-1,AC\\DC TV", ["AC\\DC TV"]),
    ("a name with a quote in the end", "-1 tvg-id=\"a\",19\" TV", ["19\" TV · id=a"]),
]

@Suite("Entries of lists") struct EntryLineTests {
    @Test(arguments: rows)
    func entry(when: String, line: String, says: [String]) {
        let list = "#EXTM3U\n#EXTINF:\(line)\nhttp://h/1\n"
        #expect(dump(list: Array(list.utf8)) == says, "\(when)")
    }

    @Test("There are enough rows") func rowCount() { #expect(rows.count >= 100) }
}
