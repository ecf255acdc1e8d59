import ChannelList
import Foundation

/// Served programs that no guide contains any more, as far back as the archives of their channels reach.
///
/// Most guides begin with today, and clients show past programs only if the newest guide contains them.
struct PastPrograms: Sendable {
    /// The file of the guide that is served.
    let path: String
    let schedule: GuideSchedule
    /// The earliest start, in seconds since 1970, of the programs of each channel, by its id.
    let since: [String: Int64]

    /// - Parameters:
    ///   - defaultRewind: the rewind of channels without a setting of their own; nil: unlimited.
    ///   - now: seconds since 1970.
    init(of guide: PublishedGuide, for channels: [ListedChannel], defaultRewind: Duration?, now: Int64) {
        (path, schedule) = (guide.path, guide.built.schedule)
        let starts = channels.compactMap { channel in
            channel.archive(defaultRewind: defaultRewind).map {
                (ChannelListWriter.guideID(of: channel), now - $0.components.seconds)
            }
        }
        since = Dictionary(starts, uniquingKeysWith: min)
    }

    /// Calls `receive` with the programs of each channel that began before those of the new guide.
    /// - Parameter new: the places of the programs that were written.
    func read(
        before new: GuideSchedule, _ receive: (_ channel: String, _ start: Int64, [UInt8]) throws(GuideFault) -> Void
    ) throws(GuideFault) {
        guard let file = FileHandle(forReadingAtPath: path) else { return }
        defer { try? file.close() }
        for (channel, since) in since {
            guard let end = new.firstStart(of: channel) else { continue }
            for place in schedule.programs(of: channel, from: since, to: end) {
                guard (try? file.seek(toOffset: UInt64(place.bytes.lowerBound))) != nil,
                    let bytes = try? file.read(upToCount: place.bytes.count), bytes.count == place.bytes.count
                else { break }
                try receive(channel, place.start, Array(bytes))
            }
        }
    }
}
