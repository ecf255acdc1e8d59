import Support

/// A language as playlists name it: a BCP 47 tag in lower case. Its first subtag has two letters if ISO 639-1 defines a
/// code for the language; transport streams name the same language by an ISO 639-2 code of three letters.
package struct LanguageTag: Hashable, Sendable {
    package static let unknown = LanguageTag(text: "und")
    private static let longest = 35

    /// 1 to 35 letters, digits and hyphens.
    package let text: String

    private init(text: String) { self.text = text }

    /// - Parameter code: a BCP 47 tag, or an ISO 639-2 code in its terminological or bibliographic form. Other text, and the
    ///   codes of no language (mis, mul, zxx, the private qaa to qtz), are no language.
    package init?(_ code: some StringProtocol) {
        let subtags = code.lowercased().split(separator: "-", omittingEmptySubsequences: false)
        guard let primary = subtags.first, code.utf8.count <= Self.longest, (2...3).contains(primary.utf8.count),
            subtags.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isAlphanumeric) }),
            primary.utf8.allSatisfy({ $0 >= UInt8(ascii: "a") }), !Self.isReserved(primary)
        else { return nil }
        let short = Self.shortCodes[String(primary)] ?? String(primary)
        text = ([Substring(short)] + subtags.dropFirst()).joined(separator: "-")
    }

    /// nil if `text` cannot have been written by the `text` property.
    init?(written text: some StringProtocol) {
        if text == Self.unknown.text { self = .unknown } else { self.init(text) }
    }

    /// The ISO 639-2 code of the first subtag, three letters; `und` if there is none.
    package var iso639: String {
        let primary = text.prefix { $0 != "-" }
        if primary.utf8.count == 3 { return String(primary) }
        return Self.longCodes[String(primary)] ?? "und"
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isReserved(_ code: Substring) -> Bool {
        ["und", "mis", "mul", "zxx"].contains(code) || code.utf8.count == 3 && code >= "qaa" && code <= "qtz"
    }

    /// ISO 639-2 codes by the ISO 639-1 code of the same language: the terminological code first.
    private static let table = """
        aa aar|ab abk|ae ave|af afr|ak aka|am amh|an arg|ar ara|as asm|av ava|ay aym|az aze|ba bak|be bel|bg bul|bh bih|\
        bi bis|bm bam|bn ben|bo bod tib|br bre|bs bos|ca cat|ce che|ch cha|co cos|cr cre|cs ces cze|cu chu|cv chv|\
        cy cym wel|da dan|de deu ger|dv div|dz dzo|ee ewe|el ell gre|en eng|eo epo|es spa|et est|eu eus baq|fa fas per|\
        ff ful|fi fin|fj fij|fo fao|fr fra fre|fy fry|ga gle|gd gla|gl glg|gn grn|gu guj|gv glv|ha hau|he heb|hi hin|\
        ho hmo|hr hrv|ht hat|hu hun|hy hye arm|hz her|ia ina|id ind|ie ile|ig ibo|ii iii|ik ipk|io ido|is isl ice|it ita|\
        iu iku|ja jpn|jv jav|ka kat geo|kg kon|ki kik|kj kua|kk kaz|kl kal|km khm|kn kan|ko kor|kr kau|ks kas|ku kur|\
        kv kom|kw cor|ky kir|la lat|lb ltz|lg lug|li lim|ln lin|lo lao|lt lit|lu lub|lv lav|mg mlg|mh mah|mi mri mao|\
        mk mkd mac|ml mal|mn mon|mr mar|ms msa may|mt mlt|my mya bur|na nau|nb nob|nd nde|ne nep|ng ndo|nl nld dut|\
        nn nno|no nor|nr nbl|nv nav|ny nya|oc oci|oj oji|om orm|or ori|os oss|pa pan|pi pli|pl pol|ps pus|pt por|qu que|\
        rm roh|rn run|ro ron rum|ru rus|rw kin|sa san|sc srd|sd snd|se sme|sg sag|si sin|sk slk slo|sl slv|sm smo|sn sna|\
        so som|sq sqi alb|sr srp|ss ssw|st sot|su sun|sv swe|sw swa|ta tam|te tel|tg tgk|th tha|ti tir|tk tuk|tl tgl|\
        tn tsn|to ton|tr tur|ts tso|tt tat|tw twi|ty tah|ug uig|uk ukr|ur urd|uz uzb|ve ven|vi vie|vo vol|wa wln|wo wol|\
        xh xho|yi yid|yo yor|za zha|zh zho chi|zu zul
        """
    private static let rows = table.split(separator: "|").map { $0.split(separator: " ").map(String.init) }
    private static let longCodes = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    private static let shortCodes = Dictionary(
        uniqueKeysWithValues: rows.flatMap { row in row.dropFirst().map { ($0, row[0]) } })

    /// The most frequent languages of channels, by the names that their speakers use.
    private static let names = Dictionary(
        uniqueKeysWithValues: """
            ar العربية|bg Български|ca Català|cs Čeština|cy Cymraeg|da Dansk|de Deutsch|el Ελληνικά|en English|es Español|\
            et Eesti|eu Euskara|fa فارسی|fi Suomi|fr Français|ga Gaeilge|gl Galego|gsw Schwiizerdütsch|he עברית|hi हिन्दी|\
            hr Hrvatski|hu Magyar|id Indonesia|is Íslenska|it Italiano|ja 日本語|ko 한국어|lb Lëtzebuergesch|lt Lietuvių|\
            lv Latviešu|nl Nederlands|no Norsk|pl Polski|pt Português|ro Română|ru Русский|sk Slovenčina|sl Slovenščina|\
            sq Shqip|sr Српски|sv Svenska|th ไทย|tr Türkçe|uk Українська|vi Tiếng Việt|zh 中文
            """.split(separator: "|").map { row in
                let parts = row.split(separator: " ", maxSplits: 1)
                return (String(parts[0]), String(parts[1]))
            })

    /// The language's name for itself; the tag if the language is not among the most frequent ones.
    package var ownName: String { Self.names[text] ?? text }
}
