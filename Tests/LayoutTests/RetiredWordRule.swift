/// Refuses identifiers with a word that the project retired in favor of the field's own (CONTRIBUTING.md has the table).
enum RetiredWordRule {
    /// A retired word and what to say instead.
    private static let replacements: [String: String] = [
        "sound": "audio", "sounds": "audio", "picture": "video or frame", "pictures": "frames", "stretch": "span",
        "stretches": "spans", "seam": "discontinuity", "seams": "discontinuities", "piece": "fragment or chunk",
        "pieces": "fragments or chunks", "border": "boundary", "borders": "boundaries", "hole": "gap", "holes": "gaps",
        "lack": "gap", "lacks": "is missing", "lacked": "is missing", "told": "published", "owed": "pending",
        "behind": "after", "shown": "published, listed or redacted", "programme": "program", "programmes": "programs",
        "shelf": "cache", "inbox": "queue", "roster": "store", "rota": "order", "gate": "limiter", "habit": "alignment",
        "habits": "alignments", "ledger": "store", "trouble": "failure", "troubles": "failures",
    ]
    /// Where H.264 and HEVC syntax is read or written, and "picture" is the standards' own word.
    private static let syntaxPlaces = [
        "Sources/Media/ParameterSets/", "Sources/Demux/ElementaryStream/Video/",
        "Sources/Demux/FragmentedMP4/VideoSampleDescription.swift", "Tests/MediaTestSupport/", "Tests/MediaTests/",
        "Tests/DemuxTests/", "Tests/TranscodeTests/", "Tests/MuxTests/", "Tests/SpliceTests/",
        "Tests/Fuzz/Harness/ElementaryEntries.swift",
    ]
    /// Terms of H.264 and HEVC that name a picture elsewhere.
    private static let syntax = [
        "PictureParameterSet", "LeadingPicture", "ReferencePicture", "SubPicture", "PictureOrder", "PictureType",
        "PictureFormat", "CodedPicture", "PictureTiming", "PictureStructure",
    ]
    /// Functions whose name does not say what they do to what.
    private static let vague: Set = ["note", "take", "work", "give"]

    static func findings(in file: SourceFile) -> [String] {
        guard file.path.hasPrefix("Sources/") || file.path.hasPrefix("Tests/") else { return [] }
        return file.tokens.indices.compactMap { index in
            let token = file.tokens[index]
            if vague.contains(token.text), index > 0, file.tokens[index - 1].text == "func" {
                return file.finding(token.line, "func \(token.text): say what it does to what")
            }
            guard let word = retiredWord(in: token.text) else { return nil }
            if word.hasPrefix("picture"), syntaxPlaces.contains(where: { file.path.hasPrefix($0) }) { return nil }
            return file.finding(token.line, "\(token.text): say \(replacements[word] ?? "") for \(word)")
        }
    }

    private static func retiredWord(in identifier: String) -> String? {
        let words = words(of: identifier)
        guard let word = words.first(where: { replacements[$0] != nil }) else { return nil }
        let isSyntax =
            word.hasPrefix("picture") && syntax.contains { identifier.lowercased().contains($0.lowercased()) }
        return isSyntax ? nil : word
    }

    /// The words of a name in camel case, in lower case.
    private static func words(of identifier: String) -> [String] {
        var words: [String] = [""]
        var previous: Character = "_"
        for character in identifier {
            if !character.isLetter || (character.isUppercase && !previous.isUppercase) { words.append("") }
            if character.isLetter { words[words.count - 1].append(character.lowercased()) }
            previous = character
        }
        return words
    }
}
