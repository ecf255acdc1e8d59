package import ChannelList
import Foundation

extension GuideService {
    /// Programs that are listed of one channel at most, and their bytes.
    static let mostListings = 2000
    private static let mostBytes = 8 << 20

    /// The programs of a channel, in the order of their starts. They are read from the file of the guide.
    /// - Parameters:
    ///   - time: seconds since 1970: those that are over then are left out; nil: all.
    ///   - limit: the most programs.
    package func listings(
        of channel: ListedChannel, from time: Int64? = nil, limit: Int = GuideService.mostListings
    ) -> [GuideListing] {
        guard let guide = published else { return [] }
        let id = ChannelListWriter.guideID(of: channel)
        // One more: that of a program which is over may come first.
        return Self.listings(in: guide, of: id, from: time, limit: limit + 1)
            .filter { listing in time.map { listing.stop > $0 } ?? true }.prefix(limit).map(\.self)
    }

    private static func listings(
        in guide: PublishedGuide, of id: String, from time: Int64?, limit: Int
    ) -> [GuideListing] {
        let places = guide.built.schedule.programs(of: id, from: time, limit: limit)
        guard !places.isEmpty, let file = FileHandle(forReadingAtPath: guide.path) else { return [] }
        defer { try? file.close() }
        var listings: [GuideListing] = []
        var byteCount = 0
        for (index, place) in zip(places.indices, places) where byteCount < mostBytes {
            byteCount += place.bytes.count
            guard (try? file.seek(toOffset: UInt64(place.bytes.lowerBound))) != nil,
                let bytes = try? file.read(upToCount: place.bytes.count)
            else { break }
            var scanner = GuideScanner()
            scanner.append(bytes)
            scanner.finish()
            guard let element = scanner.next() else { continue }
            let next = index + 1 < places.endIndex ? places[index + 1].start : nil
            listings.append(GuideListing(element, start: place.start, next: next))
        }
        return listings
    }
}
