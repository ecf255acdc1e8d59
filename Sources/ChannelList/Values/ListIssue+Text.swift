extension ListIssue {
    /// What the issue is and what became of it, in one sentence without the line's number. No text of a header's value.
    package var text: String {
        switch kind {
        case .missingHeader: "the first line is not #EXTM3U; the list is read nevertheless"
        case .missingNumberSign: "the number sign is missing; the line is read as if it were there"
        case .unexpectedText(let text): "\"\(text)\" is no URL and no directive"
        case .unknownDirective(let name): "\(name) is unknown and passed over"
        case .unknownOption(let name): "the option \(name) is not followed"
        case .missingComma: "the comma before the channel's name is missing"
        case .missingName: "the channel has no name; it is called as in its guide or its URL"
        case .strayWord(let word): "\"\(word)\" is no attribute"
        case .unclosedQuote(let attribute): "the closing quote of \(attribute) is missing"
        case .longValue(let attribute): "\(attribute) is too long and dropped"
        case .malformedNumber(let number): "\"\(number)\" is no channel number"
        case .malformedHeader(let name): "the header \(name) cannot be sent"
        case .missingURL(let name): "the channel \"\(name)\" has no URL"
        case .missingEntry: "the URL has no #EXTINF; the channel is called as the URL"
        case .unsupportedScheme(let scheme): "\(scheme) is not supported, only http and https"
        case .malformedURL(let url): "\"\(url)\" is no URL"
        case .repeatedName(let name, let slug): "another channel is called \"\(name)\" too; this one is at /\(slug)"
        case .foreignEncoding: "the text is not UTF-8; it is read as Windows-1252"
        case .longLine(let bytes): "the line has \(bytes) bytes and is passed over"
        case .limit(let limit): "there are too many \(limit.text); the rest is passed over"
        }
    }
}

extension ListIssue.Limit {
    fileprivate var text: String {
        switch self {
        case .channels: "channels"
        case .sources: "URLs of one channel"
        case .headers: "headers of one URL"
        case .groups: "groups of one channel"
        case .guides: "guides"
        }
    }
}
