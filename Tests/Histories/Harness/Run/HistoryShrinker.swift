/// Finds the smallest history that still fails in the same way.
struct HistoryShrinker {
    let rule: Finding.Rule
    /// Judges a history; nil: the process that runs it has crashed.
    let judge: (History) async throws -> Judgement?

    func shrink(_ history: History) async throws -> History {
        var smallest = history
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for candidate in candidates(of: smallest) where try await fails(candidate) {
                smallest = candidate
                isSmaller = true
                break
            }
        }
        return smallest
    }

    private func fails(_ history: History) async throws -> Bool {
        guard let judgement = try await judge(history) else { return rule == .crash }
        return judgement.findings.contains { $0.rule == rule }
    }

    /// Smaller histories: without a thing, with a shorter life, with shorter things, and with simpler chances.
    private func candidates(of history: History) -> [History] {
        var candidates: [History] = []
        for index in history.events.indices {
            var smaller = history
            smaller.events.remove(at: index)
            candidates.append(smaller)
        }
        if let last = history.events.map(\.end).max(), !history.has(.ended), last + 20_000 < history.length {
            var shorter = history
            shorter.length = last + 20_000
            candidates.append(shorter)
        }
        for (index, event) in history.events.enumerated() where event.value > 7 {
            for value in UInt64(0)..<4 {
                var simpler = history
                simpler.events[index].value = value
                candidates.append(simpler)
            }
        }
        for (index, event) in history.events.enumerated() where event.at % 1000 != 0 {
            var simpler = history
            simpler.events[index].at = event.at / 1000 * 1000
            candidates.append(simpler)
        }
        return candidates
    }
}
