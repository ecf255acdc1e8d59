import Conformance
import Support

/// The side of a channel that breaks a rule.
package enum FindingSide: String, CaseIterable, Sendable { case upstream, output }

extension RelayStatus {
    /// A rule that is broken, as `docs/rules.md` numbers it.
    package struct BrokenRule: Encodable, Equatable, Sendable {
        package let rule: Int
        package let name: String
        /// The newest observation.
        package let text: String
        package let count: Int
        package let lastHour: Int
        package let secondsAgo: Double

        init(_ entry: RuleTally.Entry) {
            rule = entry.rule.rawValue
            name = entry.rule.name
            text = entry.text
            count = entry.count
            lastHour = entry.lastHour
            secondsAgo = entry.age.seconds
        }
    }
}
