import TestSupport

@testable import Fetch
@testable import Support
@testable import Tracker

/// An upstream that lists segments at known times, and the loads of one schedule. Times in seconds.
struct PollingSimulation {
    struct Upstream {
        var targetDuration: Double
        /// When each segment is listed, and its EXTINF.
        var publications: [Double] = []
        var durations: [Double] = []
        var roundTrip = 0.04
        /// max-age of the answers, and whether a cache obeys it. Like nginx's, it counts whole seconds and sends no Age.
        var maxAge = 0.0
        var hasCache = false

        /// - Parameter delay: how late the segment with that number is listed.
        init(
            every duration: Double, count: Int, begin: Double = 0.7, drift: Double = 0,
            delay: (_ number: Int) -> Double = { _ in 0 }
        ) {
            targetDuration = duration.rounded(.up)
            for number in 0..<count {
                let time = begin + Double(number + 1) * duration * (1 + drift) + delay(number)
                publications.append(max(time, publications.last ?? 0))
                durations.append(duration)
            }
        }

        /// Lists each segment when it is over.
        init(durations: [Double]) {
            targetDuration = (durations.max() ?? 0).rounded(.up)
            self.durations = durations
            for duration in durations { publications.append((publications.last ?? 0.7) + duration) }
        }

        func listed(at time: Double) -> Int { publications.count { $0 <= time } }
    }

    var loads: [(at: Double, found: Int)] = []
    /// Time from publication to the end of the answer, by the time of the latter.
    var latencies: [(at: Double, late: Double)] = []
    /// When the first search ended.
    var heldAt = Double.infinity

    init(_ upstream: Upstream, mode: PollingMode = .edge, joinAt: Double? = nil, datedEnd: Double? = nil) {
        var schedule = PollingSchedule(mode)
        var (time, listed) = (joinAt ?? upstream.publications[3] + upstream.targetDuration * 0.6, 0)
        var copy: (made: Double, listed: Int)?
        while time < upstream.publications[upstream.publications.count - 5] {
            schedule.began(at: .seconds(time))
            let asked = time + upstream.roundTrip / 2
            if !upstream.hasCache
                || copy.map({ asked.rounded(.down) > $0.made.rounded(.down) + upstream.maxAge }) ?? true
            {
                copy = (asked, upstream.listed(at: asked))
            }
            let now = copy?.listed ?? 0
            let end = time + upstream.roundTrip
            let fresh = upstream.durations[(listed == 0 ? max(0, now - 3) : min(listed, now))..<now]
            loads.append((time, fresh.count))
            if listed > 0 { latencies += (min(listed, now)..<now).map { (end, end - upstream.publications[$0]) } }
            let next = schedule.next(
                after: upstream.reading(Array(fresh), datedEnd: listed == 0 ? datedEnd : nil), at: .seconds(end))
            listed = max(listed, now)
            if schedule.state == .holding { heldAt = min(heldAt, end) }
            guard let next, next.inSeconds > time else { break }
            time = next.inSeconds
        }
    }

    /// The latency that a part of the segments found after `start` does not exceed.
    func percentile(_ part: Double, after start: Double) -> Double {
        let sorted = latencies.filter { $0.at > start }.map(\.late).sorted()
        return sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }

    func requestsPerSegment(after start: Double) -> Double {
        Double(loads.count { $0.at > start }) / Double(latencies.count { $0.at > start })
    }
}

extension PollingSimulation.Upstream {
    fileprivate func reading(_ fresh: [Double], datedEnd: Double?) -> PollingSchedule.Reading {
        let new = fresh.map { Duration.seconds($0) }
        let longest = Duration.seconds(durations.max() ?? 0)
        return PollingSchedule.Reading(
            outcome: new.last.map { .grew(lastSegment: $0) } ?? .unchanged(longestSegment: longest),
            targetDuration: .seconds(targetDuration), newSegments: new,
            freshness: CacheFreshness(maxAge: .seconds(maxAge)), datedEnd: datedEnd.map { .seconds($0) })
    }
}

extension Duration {
    var inSeconds: Double { self / .seconds(1) }
}
