/// Counts of input that a demuxer could not use. `/status.json` shows each, summed over the channel.
package struct DemuxCounts: Encodable, Equatable, Sendable {
    /// The published names.
    private enum CodingKeys: String, CodingKey {
        case bytesOutOfSync, transportErrors, duplicatePackets, scrambledPackets, wrongPacketLengths, badSections
        case undecodable = "undecodableUnits"
        case abandoned = "abandonedUnits"
        case otherPackets, incompleteSamples, badBoxes
        case excessMessages = "excessEventMessages"
    }

    /// Bytes skipped to find packet sync again.
    package var bytesOutOfSync = 0
    /// Transport packets with transport_error_indicator, a bad adaptation field or a continuity gap before them.
    package var transportErrors = 0
    /// Duplicate transport packets, which are dropped.
    package var duplicatePackets = 0
    package var scrambledPackets = 0
    /// Video PES packets that do not end where their PES_packet_length says.
    package var wrongPacketLengths = 0
    /// PSI sections with a wrong CRC_32, and changed ones beyond those that are applied in a segment.
    package var badSections = 0
    /// Access units and audio frames before their parameter sets, or without beginning and end.
    package var undecodable = 0
    /// Access units and audio frames that were incomplete at a discontinuity.
    package var abandoned = 0
    /// Packets and fragments of tracks that are not followed: subtitles, data, other languages and programs, and
    /// unlisted PIDs.
    package var otherPackets = 0
    /// Samples whose bytes are not all in the segment.
    package var incompleteSamples = 0
    /// Boxes that end after their segment, or with contradictory fields.
    package var badBoxes = 0
    /// Messages, splice information sections and ID3 tags that are too large or too many.
    package var excessMessages = 0

    package init() {}

    package static func += (left: inout DemuxCounts, right: DemuxCounts) {
        left.bytesOutOfSync += right.bytesOutOfSync
        left.transportErrors += right.transportErrors
        left.duplicatePackets += right.duplicatePackets
        left.scrambledPackets += right.scrambledPackets
        left.wrongPacketLengths += right.wrongPacketLengths
        left.badSections += right.badSections
        left.undecodable += right.undecodable
        left.abandoned += right.abandoned
        left.otherPackets += right.otherPackets
        left.incompleteSamples += right.incompleteSamples
        left.badBoxes += right.badBoxes
        left.excessMessages += right.excessMessages
    }
}
