import Testing

@testable import Playlist

/// Which of the keys in effect decrypts a segment. What cannot be decrypted is refused here, and nowhere else.
struct SegmentKeyTests {
    private static let aes128 = SegmentKey(method: .aes128, uri: "k")
    private static let drm = SegmentKey(method: .sampleAES, uri: "skd", keyFormat: "com.apple.streamingkeydelivery")
    private static let counterMode = SegmentKey(method: .other("SAMPLE-AES-CTR"), uri: "c")
    private static let foreign = SegmentKey(method: .aes128, uri: "f", keyFormat: "com.example")

    static let rows: [(when: String, keys: [SegmentKey], result: Result<SegmentKey?, UnsupportedKey>)] = [
        ("nothing is encrypted", [], .success(nil)), ("AES-128", [aes128], .success(aes128)),
        ("AES-128 after a DRM", [drm, foreign, aes128], .success(aes128)),
        (
            "SAMPLE-AES", [SegmentKey(method: .sampleAES, uri: "k")],
            .failure(UnsupportedKey(method: .sampleAES, keyFormat: "identity"))
        ),
        (
            "SAMPLE-AES-CTR", [counterMode],
            .failure(UnsupportedKey(method: .other("SAMPLE-AES-CTR"), keyFormat: "identity"))
        ),
        ("another key format", [foreign], .failure(UnsupportedKey(method: .aes128, keyFormat: "com.example"))),
        (
            "several, none of which can be used: the first is named", [drm, counterMode],
            .failure(UnsupportedKey(method: .sampleAES, keyFormat: "com.apple.streamingkeydelivery"))
        ),
    ]

    @Test(arguments: rows)
    func oneKeyWithAES128IsEnough(when: String, keys: [SegmentKey], result: Result<SegmentKey?, UnsupportedKey>) {
        let usable = Result { () throws(UnsupportedKey) in try keys.usableKey() }
        #expect(usable == result, "\(when)")
    }
}
