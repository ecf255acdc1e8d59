import TestSupport
import Testing

@testable import Decrypt
@testable import Playlist
@testable import Support

private let key = [UInt8](hex: "00112233445566778899aabbccddeeff")
private let iv = [UInt8](hex: "0f0e0d0c0b0a09080706050403020100")
private let url = "https://keys.example/1"

private func aes128(_ iv: [UInt8]? = nil) -> SegmentKey {
    SegmentKey(method: .aes128, uri: "1", initializationVector: iv)
}

private func decrypt(_ body: [UInt8], _ keys: [SegmentKey], _ key: [UInt8]?) -> Result<[UInt8], DecryptError> {
    Result { () throws(DecryptError) in
        try SegmentDecryptor.decrypt(body, under: keys.aes128, key: key, keyURL: url, mediaSequence: 7)
    }
}

// printf 'forty-two bytes of a clear transport stream' | openssl enc -aes-128-cbc -K … -iv …
private let clearText = Array("forty-two bytes of a clear transport stream".utf8)
private let explicitVector = [UInt8](
    hex:
        "0d7fdc6e258ebf32ae0a415b67c0b8631935ef67fc66c37c1252ceef8a739ef0a2d41a56ba5d9ded51136ba5ac58ad34")
private let sequenceSevenVector = [UInt8](
    hex:
        "1dcb27736834fde52110e6cca59766154c7c96db99daf98be8056a455020d4ca377f0df395e0696d4c460dc940faa464")

struct ClearRow: Sendable, CustomTestStringConvertible {
    let when: String
    var testDescription: String { when }
    let body: [UInt8]
    let keys: [SegmentKey]
    let key: [UInt8]?
    let clear: [UInt8]
}

private let clearRows = [
    ClearRow(when: "METHOD=NONE", body: [0x47, 1, 2], keys: [], key: nil, clear: [0x47, 1, 2]),
    ClearRow(when: "METHOD=NONE with a key still cached", body: [0x47, 1], keys: [], key: key, clear: [0x47, 1]),
    ClearRow(when: "an empty clear body", body: [], keys: [], key: nil, clear: []),
    ClearRow(when: "an explicit IV", body: explicitVector, keys: [aes128(iv)], key: key, clear: clearText),
    ClearRow(
        when: "the sequence number as IV", body: sequenceSevenVector, keys: [aes128()], key: key, clear: clearText),
    ClearRow(
        when: "several key formats, identity last", body: explicitVector,
        keys: [SegmentKey(method: .sampleAES, uri: "skd", keyFormat: "com.apple.streamingkeydelivery"), aes128(iv)],
        key: key, clear: clearText),
]

@Test(arguments: clearRows)
func decrypts(row: ClearRow) {
    #expect(decrypt(row.body, row.keys, row.key) == .success(row.clear), "\(row.when)")
}

struct DecryptErrorRow: Sendable, CustomTestStringConvertible {
    let when: String
    var testDescription: String { when }
    var body = explicitVector
    var keys = [aes128(iv)]
    var key: [UInt8]? = Array(hex: "00112233445566778899aabbccddeeff")
    let reason: DecryptError.Reason
}

private let errorRows = [
    DecryptErrorRow(when: "no key", key: nil, reason: .missingKey),
    DecryptErrorRow(when: "an empty key", key: [], reason: .wrongKeySize(0)),
    DecryptErrorRow(when: "a key of 15 bytes", key: Array(key.dropLast()), reason: .wrongKeySize(15)),
    DecryptErrorRow(when: "a key with a line end", key: key + [0x0A], reason: .wrongKeySize(17)),
    DecryptErrorRow(when: "another key", key: Array(key.reversed()), reason: .badPadding),
    DecryptErrorRow(when: "the last block cut off", body: Array(explicitVector.dropLast(16)), reason: .badPadding),
    DecryptErrorRow(
        when: "the last byte cut off", body: Array(explicitVector.dropLast()), reason: .notBlockAligned(47)),
    DecryptErrorRow(when: "an empty body", body: [], reason: .notBlockAligned(0)),
    DecryptErrorRow(
        when: "an IV of 8 bytes", keys: [aes128([UInt8](iv.prefix(8)))], reason: .wrongInitializationVectorSize(8)),
]

@Test(arguments: errorRows)
func refusesUnusableKeysAndBodies(row: DecryptErrorRow) {
    let error = DecryptError(reason: row.reason, mediaSequence: 7, keyURL: url)
    #expect(decrypt(row.body, row.keys, row.key) == .failure(error), "\(row.when)")
}

/// How the text is recognized, and what becomes of it.
private let contentRows:
    [(when: String, body: [UInt8], isContent: Bool, isWhole: Bool, result: Result<[UInt8], DecryptError.Reason>)] = [
        ("padding", explicitVector, false, false, .success(clearText)),
        (
            "a text that is whole with what looks like padding", explicitVector, true, true,
            .success(clearText + [5, 5, 5, 5, 5])
        ),
        (
            "no padding, and the content", Array(explicitVector.dropLast(16)), true, false,
            .success(Array(clearText.prefix(32)))
        ),
        ("no padding, and other content", Array(explicitVector.dropLast(16)), false, false, .failure(.badPadding)),
        (
            "the last byte cut off, and the content", explicitVector.dropLast(), true, false,
            .success(Array(clearText.prefix(32)))
        ),
        (
            "the last byte cut off, and other content", explicitVector.dropLast(), false, false,
            .failure(.notBlockAligned(47))
        ),
        ("less than a block", Array(explicitVector.prefix(9)), true, false, .failure(.notBlockAligned(9))),
    ]

@Test(arguments: contentRows.indices)
func contentDecides(_ index: Int) {
    let row = contentRows[index]
    // The body itself is not the content.
    let content = ClearContent(isContent: { _ in row.isContent }, isWhole: { row.isWhole && $0 != row.body })
    let result = Result { () throws(DecryptError) in
        try SegmentDecryptor.decrypt(
            row.body, under: aes128(iv), key: key, keyURL: url, mediaSequence: 7, content: content)
    }
    #expect(result == row.result.mapError { DecryptError(reason: $0, mediaSequence: 7, keyURL: url) }, "\(row.when)")
}

@Test func bodyThatIsClearIsNotDecrypted() throws {
    let content = ClearContent(isContent: { _ in true }, isWhole: { $0 == clearText })
    #expect(
        try SegmentDecryptor.decrypt(
            clearText, under: aes128(iv), key: nil, keyURL: url, mediaSequence: 7, content: content) == clearText)
}

@Test func wrongIVDamagesOnlyFirstBlock() throws {
    let clear = try decrypt(explicitVector, [aes128()], key).get()
    #expect(clear.prefix(16) != clearText.prefix(16))
    #expect(clear.dropFirst(16) == clearText.dropFirst(16))
}

@Test func clearBodyIsNotCopied() throws {
    let body = [UInt8](repeating: 0x47, count: 188)
    let clear = try decrypt(body, [], nil).get()
    let same = unsafe body.withUnsafeBufferPointer { before in
        unsafe clear.withUnsafeBufferPointer { unsafe $0.baseAddress == before.baseAddress }
    }
    #expect(same)
}

@Test(.enabled(if: OpenSSLCommand.isInstalled), arguments: [1, 15, 16, 17, 188, 4096, 188 * 7919, (1 << 24) + 3])
func decryptsOutputOfOpenSSLCommand(count: Int) throws {
    var random = SeededGenerator(seed: UInt64(count))
    let block = (0..<4093).map { _ in UInt8.random(in: 0...255, using: &random) }
    var clear: [UInt8] = []
    while clear.count < count { clear += block.prefix(count - clear.count) }
    let encrypted = try OpenSSLCommand.encrypt(clear, key: key, iv: iv)
    #expect(encrypted.count == count + 16 - count % 16)
    #expect(decrypt(encrypted, [aes128(iv)], key) == .success(clear))
}

#if DEBUG
    @Test func cancellationIsLookedAtInBetween() {
        let steps = [1, 8, 32].map { count in
            StepCounter.counter { _ = decrypt([UInt8](repeating: 0, count: count << 20), [aes128(iv)], key) }
                .stepsBetweenLooks
        }
        #expect(steps == [1 << 20, 1 << 20, 1 << 20])
    }

    @Test func canceledTaskDecryptsNoMore() async {
        let counter = StepCounter { look in if look == 3 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } } }
        let result = await Task {
            StepCounter.$current.withValue(counter) {
                decrypt([UInt8](repeating: 0, count: 8 << 20), [aes128(iv)], key)
            }
        }.value
        #expect(result == .failure(DecryptError(reason: .canceled, mediaSequence: 7, keyURL: url)))
        #expect(counter.steps == 2 << 20)
    }
#endif

private let vectorRows: [(number: UInt64, hex: String)] = [
    (0, "00000000000000000000000000000000"),
    (7, "00000000000000000000000000000007"),
    (0x0123_4567_89AB_CDEF, "00000000000000000123456789abcdef"),
    (.max, "0000000000000000ffffffffffffffff"),
]

@Test(arguments: vectorRows)
func sequenceNumberIsBigEndianIV(number: UInt64, hex: String) {
    #expect(aes128().vector(for: number) == [UInt8](hex: hex))
}
