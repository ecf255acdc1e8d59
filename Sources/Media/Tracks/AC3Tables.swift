/// The code tables of AC-3 and E-AC-3 (ETSI TS 102 366 §4.4).
package enum AC3Tables {
    /// Sample rates in Hz by fscod.
    package static let sampleRates = [48_000, 44_100, 32_000]
    /// Bit rates in kbit/s by frmsizecod / 2.
    package static let bitRates = [
        32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
    ]
    /// Full-bandwidth channels by acmod.
    package static let channelCounts = [2, 1, 2, 3, 3, 4, 4, 5]
}
