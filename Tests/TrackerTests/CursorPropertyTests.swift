@testable import Fetch
@testable import Support
import Playlist
import TestSupport
import Testing

@testable import Tracker

/// An origin that keeps its numbers, through edges that lag, with tokens that change and loads that come late.
@Test(arguments: 0..<400 as Range<UInt64>)
func everyNumberIsFetchedOrLostOnceAndInOrder(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let window = UInt64.random(in: 3...10, using: &random)
    let isDated = Bool.random(using: &random)
    var edge = UInt64.random(in: 10...5000, using: &random)
    var cursor = SegmentCursor()
    var settled: [UInt64] = []
    for load in 0..<200 {
        edge += UInt64([0, 0, 1, 1, 1, 2, 3, 12].randomElement(using: &random) ?? 1)
        let isStale = load > 0 && UInt64.random(in: 0..<5, using: &random) == 0
        let listedEnd = isStale ? edge - UInt64.random(in: 0..<window, using: &random) : edge
        let token = random.next()
        let uri = { (number: UInt64) in "seg\(number).ts?t=\(token)" }
        let numbers = listedEnd - window..<listedEnd
        let playlist = isDated ? datedPlaylist(numbers, uri: uri) : mediaPlaylist(numbers, uri: uri)
        for effect in cursor.handle(playlist, at: .seconds(3 * load)) {
            switch effect {
            case .fetch(let numbers), .gap(let numbers), .slidOut(let numbers): settled += Array(numbers)
            case .reset(let method): Issue.record("seed \(seed): reset by \(method) of numbers that never went back")
            case .stale, .ended: break
            }
        }
    }
    let first = settled.first ?? 0
    #expect(settled == Array(first..<first + UInt64(settled.count)), "seed \(seed)")
    #expect(settled.last.map { $0 + 1 } == cursor.next, "seed \(seed)")
}

/// An origin whose numbers jump while its URLs continue. Another origin answers in its place sometimes.
///
/// Each segment of the first origin is fetched once and in order.
@Test(arguments: 0..<200 as Range<UInt64>)
func everySegmentIsFetchedOnceWhateverItsNumber(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let window = UInt64.random(in: 7...12, using: &random)
    let flaps = Bool.random(using: &random)
    let drifts = UInt64.random(in: 0..<3, using: &random) == 0
    var (edge, offset, wasForeign) = (UInt64(100), UInt64(1000), false)
    var cursor = SegmentCursor()
    var fetched: [UInt64] = []
    for load in 0..<80 {
        edge += UInt64([0, 1, 1, 1, 2].randomElement(using: &random) ?? 1)
        if drifts || UInt64.random(in: 0..<8, using: &random) == 0 {
            let near = [offset + 1, offset + window / 2, offset - min(offset, 2)]
            let far = [0, offset + window, offset + 5000, 1 << 60]
            offset = (drifts ? near : near + far).randomElement(using: &random) ?? 0
        }
        let isForeign = flaps && load > 0 && !wasForeign && UInt64.random(in: 0..<10, using: &random) == 0
        wasForeign = isForeign
        let first = isForeign ? UInt64.random(in: 0...40, using: &random) : edge - window + offset
        let numbers = first..<first + window
        let playlist = mediaPlaylist(numbers) { isForeign ? "other\(load)-\($0).ts" : "\($0 - offset)" }
        for effect in cursor.handle(playlist, at: .seconds(6 * load)) {
            switch effect {
            case .fetch(let numbers): fetched += numbers.compactMap { UInt64(playlist.segment($0).uri) }
            case .slidOut where isForeign: break
            case .slidOut(let lost):
                Issue.record("seed \(seed): \(lost) lost, although the origin always lists what is new")
            case .gap, .stale, .reset, .ended: break
            }
        }
    }
    let from = fetched.first ?? 0
    #expect(fetched == Array(from..<from + UInt64(fetched.count)), "seed \(seed)")
    #expect((fetched.last ?? 0) + 3 >= edge, "seed \(seed): \(fetched.last ?? 0) of \(edge)")
}

/// Whatever a playlist says, nothing traps, and only listed segments are fetched.
@Test(arguments: 0..<400 as Range<UInt64>)
func arbitraryPlaylistsDoNotTrap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var cursor = SegmentCursor(policy: seed.isMultiple(of: 2) ? .main : .companion)
    let starts: [UInt64] = [0, 5, 20, 1000, .max - 8]
    for load in 0..<60 {
        let start = starts.randomElement(using: &random) ?? 0
        let count = UInt64.random(in: 0...7, using: &random)
        let salt = UInt64.random(in: 0...2, using: &random)
        let epoch = Int64.random(in: -50...50, using: &random)
        let numbers = start..<start + count
        let playlist = datedPlaylist(numbers, epoch: epoch) { "s\($0 / 2 + salt).ts" }
        for effect in cursor.handle(playlist, at: .seconds(load)) {
            guard case .fetch(let fetched) = effect else { continue }
            #expect(!fetched.isEmpty && fetched.clamped(to: numbers) == fetched, "seed \(seed)")
        }
    }
}
