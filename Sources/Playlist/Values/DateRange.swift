package import Support

/// EXT-X-DATERANGE (RFC 8216 §4.3.2.7). `attributes` holds every attribute as written, including ID.
package struct DateRange: Equatable, Sendable {
    package var attributes: AttributeList
    /// Whether the range stands for a splice command of a DASH manifest. The section in SCTE35-CMD alone then says what
    /// the command does and to which event, and the range is not published.
    package private(set) var isSpliceCommand = false

    package init(id: String, attributes: AttributeList = AttributeList()) {
        self.attributes = attributes
        self.id = id
    }

    package var id: String {
        get { attributes["ID"] ?? "" }
        set { attributes.set("ID", to: newValue, isQuoted: true) }
    }
}

extension DateRange {
    /// - Parameters:
    ///   - section: a whole splice_info_section (SCTE 35 §9.6).
    ///   - plannedDuration: the duration that the manifest states; nil: the duration in the section.
    package init(spliceCommand section: [UInt8], at date: ProgramDateTime, plannedDuration: Duration?) {
        self.init(id: "splice-\(date.millisecondsSince1970)")
        startDate = date
        self.plannedDuration = plannedDuration
        self[splice: .command] = section
        isSpliceCommand = true
    }
}

// Attributes as values; nil if an attribute is absent or cannot be read.
extension DateRange {
    package var startDate: ProgramDateTime? {
        get { date("START-DATE") }
        set { attributes.set("START-DATE", to: newValue?.text, isQuoted: true) }
    }

    package var endDate: ProgramDateTime? {
        get { date("END-DATE") }
        set { attributes.set("END-DATE", to: newValue?.text, isQuoted: true) }
    }

    package var duration: Duration? {
        get { seconds("DURATION") }
        set { attributes.set("DURATION", to: newValue.map { DecimalSeconds.text($0) }) }
    }

    package var plannedDuration: Duration? {
        get { seconds("PLANNED-DURATION") }
        set { attributes.set("PLANNED-DURATION", to: newValue.map { DecimalSeconds.text($0) }) }
    }

    package var className: String? { attributes["CLASS"] }

    /// The class of ads and other media that players load and present themselves (draft-pantos-hls-rfc8216bis, appendix D).
    private static let interstitialClass = "com.apple.hls.interstitial"

    package var isInterstitial: Bool { className == Self.interstitialClass }

    /// The end of the channel's media that an interstitial replaces: by X-RESUME-OFFSET, else by its end or planned
    /// duration. Without any of them, the interstitial replaces nothing.
    package var interstitialEnd: ProgramDateTime? {
        guard let startDate else { return nil }
        if let offset = seconds("X-RESUME-OFFSET") { return startDate.advanced(by: offset) }
        return end ?? startDate.advanced(by: plannedDuration ?? .zero)
    }

    package var isEndOnNext: Bool { attributes["END-ON-NEXT"] == "YES" }

    /// An attribute that holds a whole splice_info_section (SCTE 35 §9.2).
    package enum SpliceAttribute: String, Sendable, CaseIterable {
        case command = "SCTE35-CMD"
        case out = "SCTE35-OUT"
        case `in` = "SCTE35-IN"
    }

    package subscript(splice attribute: SpliceAttribute) -> [UInt8]? {
        get { attributes[attribute.rawValue].flatMap { SpliceSectionText.decodeHexadecimal($0) } }
        set { attributes.set(attribute.rawValue, to: newValue.map { SpliceSectionText.encodeHexadecimal($0) }) }
    }

    /// The end of the range: END-DATE, or START-DATE plus DURATION; nil if neither is known.
    package var end: ProgramDateTime? {
        if let endDate { return endDate }
        guard let startDate, let duration else { return nil }
        return startDate.advanced(by: duration)
    }

    private func date(_ name: String) -> ProgramDateTime? {
        attributes[name].flatMap { ProgramDateTime(parsing: $0) }
    }

    private func seconds(_ name: String) -> Duration? { attributes[name].flatMap { DecimalSeconds.duration($0) } }

    /// The range with absolute URIs, because viewers resolve relative URIs against another base than `base`, the
    /// playlist's URL.
    ///
    /// A URI is the value of an attribute whose name ends in URI or URL, or is X-ASSET-LIST. A relative URI that
    /// resolves to a target with the user information or the account of `base` is removed, because viewers must not
    /// learn these.
    /// - Returns: nil for an interstitial that is left without a URI.
    package func resolvingURIs(against base: String) -> DateRange? {
        guard !base.isEmpty else { return self }
        var range = self
        let account = Set(URIRedaction(base).credentials)
        let names = attributes.attributes.map(\.name).filter(Self.namesURI)
        for name in names {
            guard let reference = attributes[name], URIReference.scheme(of: reference) == nil else { continue }
            let target = URIReference.resolve(reference, against: base)
            let isPublic = account.isDisjoint(with: URIRedaction(target).credentials)
            range.attributes.set(name, to: isPublic ? target : nil, isQuoted: true)
        }
        let isEmpty = isInterstitial && !names.isEmpty && names.allSatisfy { range.attributes[$0] == nil }
        return isEmpty ? nil : range
    }

    /// The URI of an interstitial's media or of its asset list; empty if the range has neither.
    var assetURI: String { attributes["X-ASSET-URI"] ?? attributes["X-ASSET-LIST"] ?? "" }

    private static func namesURI(_ name: String) -> Bool {
        name.hasSuffix("URI") || name.hasSuffix("URL") || name == "X-ASSET-LIST"
    }

    /// Adds the attributes of `other` that this range does not have.
    ///
    /// Two tags with one ID describe one range, and a common attribute has the same value in both (§4.3.2.7).
    /// - Returns: the names of attributes with a different value in `other`; their values in this range stay.
    @discardableResult
    package mutating func add(_ other: DateRange) -> [String] {
        var conflicts: [String] = []
        for attribute in other.attributes.attributes where attribute.name != "ID" {
            switch attributes[attribute.name] {
            case nil: attributes.attributes.append(attribute)
            case attribute.value: continue
            default: conflicts.append(attribute.name)
            }
        }
        return conflicts
    }
}
