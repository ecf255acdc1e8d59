import Playlist
package import Support

extension RelayError {
    /// - Parameter list: the list's location without its secrets.
    package init(_ error: ChannelListError, list: String) {
        switch error {
        case .notAList(let kind, let line):
            let place = line > 1 ? " (line \(line))" : ""
            self.init(
                .notAPlaylist, "\(list) is no list of channels: it is \(kind)\(place)",
                advice: kind.isChannel
                    ? "Give it to liverelay itself: liverelay URL" : "Give a file or a URL of an M3U list")
        case .tooLarge(_, let limit):
            self.init(
                .notAPlaylist, "\(list) is larger than \(limit >> 20) MiB", advice: "Give a shorter list of channels")
        case .noChannels(let issue):
            let first = issue.map { ": line \($0.line): \($0.message)" } ?? ""
            self.init(.notAPlaylist, "\(list) lists no channel that can be used\(first)", advice: "Check the list")
        }
    }
}

extension ListIssue {
    /// The text that was not understood, as a phrase.
    package var message: String {
        switch kind {
        case .missingHeader: "the first line is not #EXTM3U"
        case .missingNumberSign: "the number sign is missing"
        case .unexpectedText(let text): "\(text.quoted) is no URL and no directive"
        case .unknownDirective(let name): "\(name) has no meaning here"
        case .unknownOption(let name): "the option \(name) is not followed"
        case .missingComma: "no comma before the name"
        case .missingName: "the channel has no name"
        case .strayWord(let word): "\(word.quoted) has no value"
        case .unclosedQuote(let attribute): "the quote of \(attribute) is not closed"
        case .longValue(let attribute): "\(attribute) is too long and is dropped"
        case .malformedNumber(let number): "\(number.quoted) is no channel number"
        case .malformedHeader(let header): "the header \(header.quoted) cannot be sent"
        case .missingURL(let name): "no URL follows for \(name.quoted)"
        case .missingEntry: "no #EXTINF before this URL"
        case .unwrappedCommand: "the command of pipe: is not run; the URL after its -i is the channel's"
        case .unsupportedScheme(let scheme): "\(scheme) is not supported"
        case .malformedURL(let url): "\(url.quoted) is no URL"
        case .repeatedName(let name, let slug): "\(name.quoted) is there twice; this one is /\(slug)"
        case .unusableArchive(let fault): "the provider's archive is not used: \(fault.message)"
        case .contradictoryClock:
            "the panel's clock is not that of the zone it names; if past programs are hours off, give catchup-zone"
        case .foreignEncoding: "not in UTF-8; read as Windows-1252"
        case .longLine(let bytes): "the line has \(bytes) bytes and is passed over"
        case .limit(let limit): "too many \(limit)"
        }
    }
}

extension ProviderArchive.Fault {
    /// The attribute that is not understood, as a phrase.
    fileprivate var message: String {
        switch self {
        case .mode(let name): "catchup=\(name.quoted) is not known"
        case .missingSource: "catchup-source is missing"
        case .scheme(let name): "\(name) is not supported in catchup-source"
        case .placeholder(let text): "\(text.quoted) in catchup-source is not understood"
        case .days(let text): "catchup-days is \(text.quoted)"
        case .correction(let text): "catchup-correction is \(text.quoted)"
        case .liveURL(let mode): "catchup=\(mode.quoted) needs another form of the channel's URL"
        }
    }
}
