import ArgumentParser
import ChannelList
import Export
import Fetch
import Foundation
import LiveRing
import Support

/// Checks of option values that libcurl would refuse later, or send in another form. Each check returns the fault
/// without the value, which may be a secret; nil if the value is valid.
enum OptionChecks {
    static func headerValue(_ text: String, of option: String) -> String? {
        let isOneLine = text.unicodeScalars.allSatisfy { !ControlCharacters.contains($0) || $0 == "\t" }
        return isOneLine ? nil : "\(option) contains a line break or another control character."
    }

    /// `name=value` pairs separated by `;`.
    static func cookie(_ text: String) -> String? {
        let complaint = "--cookie has to be name=value, or several of them separated by semicolons."
        let pairs = text.split(separator: ";").map(\.trimmingBlanks).filter { !$0.isEmpty }
        let areNamed = pairs.allSatisfy { pair in
            pair.firstIndex(of: "=").map { $0 > pair.startIndex && !pair[..<$0].contains(" ") } ?? false
        }
        guard !pairs.isEmpty, areNamed, !text.contains("\t") else { return complaint }
        return headerValue(text, of: "--cookie")
    }

    private static let proxySchemes: Set = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// `[scheme://][user:password@]host[:port]`.
    static func proxy(_ text: String) -> String? {
        let url = text.contains("://") ? text : "http://\(text)"
        guard let scheme = URIReference.scheme(of: url), proxySchemes.contains(scheme) else {
            return "--proxy has to begin with http://, https://, socks4://, socks4a://, socks5:// or socks5h://."
        }
        return hasHost(url) ? nil : "--proxy has to name a host, such as http://proxy.example:3128."
    }

    /// An http or https URL with a host.
    static func url(_ text: String, of option: String) -> String? {
        guard ["http", "https"].contains(URIReference.scheme(of: text)), hasHost(text) else {
            return "\(option) has to be a URL: http://… or https://…"
        }
        return nil
    }

    static func backups(_ urls: [String]) -> String? {
        urls.lazy.map(FirstWord.sourceURL).compactMap {
            DatagramURL.isOne($0) || FileURL.isOne($0) ? nil : url($0, of: "--backup")
        }.first
    }

    /// A file with certificates.
    static func certificates(_ path: String) -> String? {
        guard let file = FileManager.default.contents(atPath: path) else { return "--ca-file \(path) cannot be read." }
        let isPEM = file.range(of: Data("-----BEGIN ".utf8)) != nil
        return isPEM ? nil : "--ca-file \(path) has no certificate in PEM: -----BEGIN CERTIFICATE-----."
    }

    /// Checks options that a channel of a list may complete, but the only channel of a process may not.
    static func checkSingle(_ options: ChannelOptions) throws {
        if options.ads == AdPresentation.slate.rawValue, options.slate == nil {
            throw ValidationError("--ads slate needs --slate.")
        }
        let aboutRecordings: [Any?] = [
            options.split, options.recordingClock, options.recordsSlate, options.recordingAds, options.keep,
            options.keepSize,
        ]
        if options.recordTo == nil, aboutRecordings.contains(where: { $0 != nil }) {
            throw ValidationError(
                "--split, --time-zone, --record-ads, --no-record-slate, --keep and --keep-size need recordings: see --output."
            )
        }
        if let ads = options.recordingAds, ads != .keep, options.recordTo?.format == .ts {
            throw ValidationError(
                "--record-ads \(ads.rawValue) needs recordings in .mp4 or .mkv: a .ts keeps its ad breaks.")
        }
        if options.split == .program {
            throw ValidationError("--split programme needs a guide, which liverelay serve has.")
        }
    }

    /// Whether the URL names a host and, if there is a colon after it, a port.
    private static func hasHost(_ url: String) -> Bool {
        guard let host = URIReference.host(of: url), !host.isEmpty, let authority = URIReference.authority(of: url),
            !url.unicodeScalars.contains(where: { ControlCharacters.contains($0) || $0 == " " })
        else { return false }
        let afterUser = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority[...]
        let port = afterUser.dropFirst(host.count)
        return port.isEmpty || port.first == ":" && UInt16(port.dropFirst()) != nil
    }
}
