/// How a segment is written as a transport stream. The ring stores it with the segment.
package struct TransportStreamPoint: Equatable, Sendable {
    /// The parameters in the text form of the multiplexer, which the ring does not interpret. They contain no quotation
    /// marks and no line ends.
    package var parameters: String
    /// The discontinuity sequence number in the playlists with transport streams. Fewer segments begin with a
    /// discontinuity there, because all periods have one clock and one set of tables.
    package var discontinuitySequence: UInt64
    package var isDiscontinuous: Bool
    /// The spool file with the frame that stands in for video in a foreign codec; nil if the segment needs none.
    /// Several segments may share the file.
    package var still: SpoolFile?
    /// The spool file with the segment's DVB subtitles and teletext; nil if it has none.
    package var privateData: SpoolFile?
    /// The extent of the segment in files of several segments; nil for a gap, and in journals of earlier versions.
    package var extent: TransportStreamExtent?

    package init(
        parameters: String, discontinuitySequence: UInt64, isDiscontinuous: Bool, still: SpoolFile? = nil,
        privateData: SpoolFile? = nil, extent: TransportStreamExtent? = nil
    ) {
        self.parameters = parameters
        self.discontinuitySequence = discontinuitySequence
        self.isDiscontinuous = isDiscontinuous
        self.still = still
        self.privateData = privateData
        self.extent = extent
    }

    /// The files in the spool that the transport stream needs beside the segment, one of each kind at most.
    var sidecars: [SpoolFile] {
        get { [still, privateData].compactMap(\.self) }
        set {
            still = newValue.first { $0.name.hasPrefix(SidecarFile.Kind.still.prefix) }
            privateData = newValue.first { $0.name.hasPrefix(SidecarFile.Kind.privateData.prefix) }
        }
    }
}

/// The size of a segment's transport stream, known before its bytes are made, and its relation to the preceding
/// segment.
package struct TransportStreamExtent: Equatable, Sendable {
    package var byteCount: Int
    /// Bytes of clock packets between the preceding segment and this one, where media is missing.
    package var leadByteCount: Int
    /// The time that the clock packets take, in 90 kHz ticks.
    package var pause: Int64
    /// By how much the times from this segment on are moved to earlier ones, relative to the preceding segment, in
    /// ticks.
    package var shift: Int64
    /// Size of the segment's early audio alone, in bytes; 0 if it has none.
    package var earlyAudioByteCount: Int
    /// The bytes by which the segment is smaller without its early audio.
    package var removedByteCount: Int

    package init(
        byteCount: Int, leadByteCount: Int = 0, pause: Int64 = 0, shift: Int64 = 0, earlyAudioByteCount: Int = 0,
        removedByteCount: Int = 0
    ) {
        self.byteCount = byteCount
        self.leadByteCount = leadByteCount
        self.pause = pause
        self.shift = shift
        self.earlyAudioByteCount = earlyAudioByteCount
        self.removedByteCount = removedByteCount
    }

    /// Whether no media is missing before the segment.
    var isContinuous: Bool { leadByteCount == 0 && pause == 0 && shift == 0 }
}

/// Which part of a segment a file contains with respect to early audio: the frames presented before the first video
/// frame. A file begins without the early audio of its first segment, and ends with the early audio of the segment
/// after its last.
package enum EarlyAudio: Hashable, Sendable {
    case kept
    case removed
    /// Nothing else of the segment.
    case alone
}

/// A file that the transport stream of a segment needs beside the segment. It is kept as long as any segment needs it,
/// so that the transport stream stays the same when other segments are evicted.
package struct SidecarFile: Equatable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// A frame of an earlier segment.
        case still
        /// The DVB subtitles and the teletext of one segment.
        case privateData = "data"

        /// The prefix of the names of such files.
        var prefix: String { "\(rawValue)-" }
    }

    /// `<kind>-<letters, digits>.mp4`. One name always means the same bytes.
    package let name: String
    package let bytes: [UInt8]

    /// - Parameter hash: a hash of the bytes, in letters and digits.
    package init(_ kind: Kind, hash: String, bytes: [UInt8]) {
        name = "\(kind.prefix)\(hash).mp4"
        self.bytes = bytes
    }

    package var file: SpoolFile { SpoolFile(name: name, byteCount: bytes.count) }
}
