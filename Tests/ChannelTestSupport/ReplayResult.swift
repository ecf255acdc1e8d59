package import Channel
import Fetch
import Foundation
package import LiveRing
package import Playlist
import Splice
import Support
import TestSupport
package import Tracker
import TrackerTestSupport

/// Everything that was published of a capture, by a replay or by several processes in turn.
package struct ReplayResult: Sendable {
    /// The file of a segment, and its init section.
    package typealias File = (name: String, initialization: [UInt8], bytes: [UInt8])

    package var end: SessionEnd?
    /// Every version of live.m3u8, in order, with the session time at which it was published.
    package var live: [(at: Duration, playlist: MediaPlaylist)] = []
    package var versions: [MediaPlaylist] { live.map(\.playlist) }
    /// dvr.m3u8 at the end.
    package private(set) var dvrPlaylist = ""
    package private(set) var status: RelayStatus
    /// The statuses of processes before the last one.
    package var earlierStatuses: [RelayStatus] = []
    /// The files of the segments in `dvrPlaylist`.
    package private(set) var segments: [File] = []
    /// The records of these segments.
    package private(set) var entries: [RingEntry] = []
    /// The files of all segments that were ever listed, in order, including those that a disk has lost since.
    package private(set) var everListed: [File] = []
    /// The playlist of each video track beside the leading one at the end, with a dump of what it lists.
    package private(set) var variants: [String] = []
    /// The events of the session, with its time.
    package var reports: [(at: Duration, event: UpstreamEvent)] = []

    package init(status: RelayStatus) { self.status = status }

    /// Reads the status, the DVR playlist and the files of its segments.
    package mutating func read(_ state: ChannelState) throws {
        status = state.status
        guard let snapshot = state.snapshot, let playlist = snapshot.dvrPlaylist(.whole) else { return }
        dvrPlaylist = String(decoding: playlist, as: UTF8.self)
        entries = snapshot.index.listed.filter { !$0.isGap }
        segments = try entries.map { entry in
            (
                entry.segment.name,
                Array(try Data(contentsOf: URL(filePath: snapshot.path(of: entry.initialization)))),
                Array(try Data(contentsOf: URL(filePath: snapshot.path(of: entry.segment))))
            )
        }
        variants = try (0..<snapshot.videoTrackCount).map { try Self.variant($0 + 1, in: snapshot) }
        let known = Set(everListed.map(\.name))
        everListed += segments.filter { !known.contains($0.name) }
    }

    private static func variant(_ number: Int, in snapshot: RingSnapshot) throws -> String {
        guard let playlist = snapshot.dvrPlaylist(.whole, of: .video(number)) else { return "" }
        let text = String(decoding: playlist, as: UTF8.self)
        let dumps = try snapshot.index.listed.compactMap { $0.videoFiles[number - 1].own }.map { file in
            let bytes = try [file.initialization, file.segment].map {
                Array(try Data(contentsOf: URL(filePath: snapshot.path(of: $0))))
            }
            return "\(file.segment.name)\n\(FragmentDump.text(initSection: bytes[0], segment: bytes[1]))"
        }
        return text + dumps.joined()
    }

    /// The content of a capture's golden file for events: a line for each.
    package var events: String { reports.map { "\($0.at.seconds) \($0.event.text)\n" }.joined() }

    /// The content of a capture's golden file for media: a dump of every fragment.
    package var dump: String {
        segments.map { "\($0.name)\n\(FragmentDump.text(initSection: $0.initialization, segment: $0.bytes))" }.joined()
    }
}
