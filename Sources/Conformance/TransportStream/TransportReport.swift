/// What was judged, and the number of faults.
package struct TransportReport: Equatable, Sendable {
    package let packets: Int
    package let bytes: Int
    /// Number of programs in the last PAT.
    package let programs: Int
    /// The PID whose PCRs measure the times of the PAT; nil if there is no PCR.
    package let clockPID: UInt16?
    /// The time from the first PCR of that PID to its last one.
    package let duration: Duration
    /// In bit/s, if it is constant: only then the accuracy of the PCRs is judged.
    package let constantBitRate: Int64?
    /// Number of PES packets and sections whose time of arrival was not judged, because no PCR came.
    package let unjudged: Int
    package let counts: [TransportIndicator: Int]

    /// Number of all faults, kept or not.
    package var faults: Int { counts.values.reduce(0, +) }
}
