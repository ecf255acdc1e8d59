/// What a demuxer met and could not use. Each is shown in /status.json, summed over the channel.
package struct DemuxCounts: Encodable, Equatable, Sendable {
    /// The published names.
    private enum CodingKeys: String, CodingKey {
        case bytesOutOfSync, transportErrors, duplicatePackets, scrambledPackets, badSections
        case undecodable = "undecodableUnits"
        case abandoned = "abandonedUnits"
        case otherPackets, incompleteSamples, badBoxes
        case excessMessages = "excessEventMessages"
    }

    /// Bytes passed over to find packet sync again.
    package var bytesOutOfSync = 0
    /// Transport packets with transport_error_indicator, a bad adaptation field or a continuity gap before them.
    package var transportErrors = 0
    /// Transport packets sent twice, dropped once.
    package var duplicatePackets = 0
    package var scrambledPackets = 0
    /// PSI sections whose CRC_32 did not fit.
    package var badSections = 0
    /// Access units and audio frames that came before their parameter sets, or were cut off at both ends.
    package var undecodable = 0
    /// Access units and audio frames left open when the clock was announced to change.
    package var abandoned = 0
    /// Packets that are not followed: subtitles, data, other languages and programmes, and PIDs that no table lists; and
    /// fragments of such tracks.
    package var otherPackets = 0
    /// Samples of which the segment does not hold all bytes.
    package var incompleteSamples = 0
    /// Boxes that end behind their segment or whose fields do not fit.
    package var badBoxes = 0
    /// `emsg` boxes that are too large, or beyond what is read of one segment.
    package var excessMessages = 0

    package init() {}

    package static func += (left: inout DemuxCounts, right: DemuxCounts) {
        left.bytesOutOfSync += right.bytesOutOfSync
        left.transportErrors += right.transportErrors
        left.duplicatePackets += right.duplicatePackets
        left.scrambledPackets += right.scrambledPackets
        left.badSections += right.badSections
        left.undecodable += right.undecodable
        left.abandoned += right.abandoned
        left.otherPackets += right.otherPackets
        left.incompleteSamples += right.incompleteSamples
        left.badBoxes += right.badBoxes
        left.excessMessages += right.excessMessages
    }
}
