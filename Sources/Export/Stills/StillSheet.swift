package import LiveRing
import Splice
package import Support
package import Transcode

/// Stills at equal distances in time, on a sheet of ten rows of ten (a storyboard, or sprite sheet).
///
/// Times are seconds since 1970. Sheets begin at multiples of their length, so that a sheet is the same for all who ask.
package struct StillSheet: Hashable, Sendable {
    package static let tile = StillImage.Size(width: 160, height: 90)
    package static let columns = 10
    package static let rows = 10
    private static let count = Int64(columns * rows)
    /// Tiles of a window, at most: 20 sheets.
    static let mostTiles: Int64 = 2000
    /// The seconds between two tiles.
    static let intervals: [Int64] = [10, 30, 60, 120, 300, 600, 1200, 3600, 21_600, 86_400]

    package let interval: Int64
    package let start: Int64

    /// Reads `stills-<interval>-<start>.jpg`; nil for a name that no track has.
    package init?(name: some StringProtocol) {
        guard name.hasPrefix("stills-"), name.hasSuffix(".jpg") else { return nil }
        let numbers = name.dropFirst(7).dropLast(4).split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let interval = Int64(numbers[0]), let start = Int64(numbers[1]),
            Self.intervals.contains(interval), (0..<100_000_000_000).contains(start),
            start % (interval * Self.count) == 0, name == "stills-\(interval)-\(start).jpg"
        else { return nil }
        (self.interval, self.start) = (interval, start)
    }

    /// The sheet with the tile of a time.
    fileprivate init(interval: Int64, at time: Int64) {
        let length = interval * Self.count
        (self.interval, start) = (interval, time / length * length)
    }

    package var name: String { "stills-\(interval)-\(start).jpg" }

    /// The interval of a track of so many milliseconds.
    static func interval(for milliseconds: Int64) -> Int64 {
        intervals.first { milliseconds / 1000 / $0 < mostTiles } ?? 86_400
    }

    /// The rows whose times are all published: others are not drawn, so that a sheet changes ten times at most.
    package func finishedRows(at end: ProgramDateTime) -> Int {
        let past = end.millisecondsSince1970 / 1000 - start
        return Int(min(Int64(Self.rows), max(0, past / (interval * Int64(Self.columns)))))
    }

    package var blank: StillImage {
        StillImage(
            StillImage.Size(width: Self.tile.width * Self.columns, height: Self.tile.height * Self.rows))
    }

    package struct Tile: Sendable {
        /// On the sheet.
        package let origin: (x: Int, y: Int)
        fileprivate let times: Range<Int64>
    }

    package func tiles(row: Int) -> [Tile] {
        (row * Self.columns..<(row + 1) * Self.columns).map { number in
            let time = (start + Int64(number) * interval) * 1000
            return Tile(origin: Self.origin(of: number), times: time..<time + interval * 1000)
        }
    }

    fileprivate static func origin(of number: Int) -> (x: Int, y: Int) {
        (number % columns * tile.width, number / columns * tile.height)
    }
}

extension StoredStill {
    /// Finds the still of a tile: that of its time, or of the first media after it; nil if there is none.
    package init?(of tile: StillSheet.Tile, in snapshot: RingSnapshot) throws(Refusal) {
        let listed = snapshot.index.listed
        let begin = ProgramDateTime(millisecondsSince1970: tile.times.lowerBound)
        guard var index = snapshot.index.firstIndex(at: begin) else { return nil }
        while index < listed.endIndex, listed[index].isGap,
            listed[index].programDateTime.millisecondsSince1970 < tile.times.upperBound
        { index += 1 }
        guard index < listed.endIndex,
            listed[index].programDateTime.millisecondsSince1970 < tile.times.upperBound
        else { return nil }
        do throws(Refusal) {
            self = try StoredStill(at: max(begin, listed[index].programDateTime), in: snapshot)
        } catch .noMedia, .noVideo { return nil }
    }
}

// MARK: - The track

extension RingSnapshot {
    private static let ticksPerMillisecond: Int64 = 90

    /// The sheets of a range as a WebVTT file, whose times are those of the playlist of that range; nil if the ring has no
    /// segment in it.
    /// - Parameter query: what URLs carry.
    package func stillTrack(of range: RewindRange, query: String?) -> String? {
        let indices = indices(of: range)
        guard !indices.isEmpty, let end = newest?.programDateTimeEnd else { return nil }
        let entries = index.listed[indices]
        let length = entries.reduce(0) { $0 + $1.duration } / Self.ticksPerMillisecond
        let interval = StillSheet.interval(for: length)
        var cues: [(start: Int64, tile: Int64)] = []
        var ticks: Int64 = 0
        for entry in entries {
            let (position, begin) = (ticks / Self.ticksPerMillisecond, entry.programDateTime.millisecondsSince1970)
            ticks += entry.duration
            guard !entry.isGap, entry.format.videoCodec != nil, begin >= 0 else { continue }
            let last = (entry.programDateTimeEnd.millisecondsSince1970 - 1) / (interval * 1000)
            for tile in (begin / (interval * 1000))...max(begin / (interval * 1000), last)
            where tile != cues.last?.tile {
                cues.append((position + max(0, tile * interval * 1000 - begin), tile))
            }
        }
        return Self.text(cues, interval: interval, length: length, until: end, query: query.map { "?\($0)" } ?? "")
    }

    private static func text(
        _ cues: [(start: Int64, tile: Int64)], interval: Int64, length: Int64, until end: ProgramDateTime, query: String
    ) -> String {
        var text = "WEBVTT\n"
        for (number, cue) in cues.enumerated() {
            let sheet = StillSheet(interval: interval, at: cue.tile * interval)
            let tile = Int(cue.tile - sheet.start / interval)
            guard tile / StillSheet.columns < sheet.finishedRows(at: end) else { continue }
            let stop = number + 1 < cues.count ? cues[number + 1].start : length
            guard stop > cue.start else { continue }
            let (origin, size) = (StillSheet.origin(of: tile), StillSheet.tile)
            text += "\n\(WebVTTTime.text(cue.start)) --> \(WebVTTTime.text(stop))\n"
            text += "\(sheet.name)\(query)#xywh=\(origin.x),\(origin.y),\(size.width),\(size.height)\n"
        }
        return text
    }
}
