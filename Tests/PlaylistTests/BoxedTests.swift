import Testing

@testable import Support

@Suite("A large value behind one pointer")
struct BoxedTests {
    private struct Owner {
        @Boxed var value = [1, 2, 3]
    }

    /// Where the elements lie: another place after a change means that they were copied.
    private func place(_ owner: Owner) -> Int {
        unsafe owner.value.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
    }

    @Test("changes in place while it has one owner")
    func oneOwner() {
        var owner = Owner()
        let before = place(owner)
        owner.value[0] = 7
        #expect(owner.value == [7, 2, 3])
        #expect(place(owner) == before)
    }

    @Test("a copy keeps what it was")
    func twoOwners() {
        var owner = Owner()
        let copy = owner
        owner.value[0] = 7
        #expect(copy.value == [1, 2, 3])
        #expect(owner.value == [7, 2, 3])
    }
}
