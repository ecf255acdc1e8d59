extension LanguageTag {
    /// The languages that most channels have, as their speakers call them.
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

    /// The language as its speakers call it; the tag if it is not among the most frequent ones.
    package var ownName: String { Self.names[text] ?? text }
}
