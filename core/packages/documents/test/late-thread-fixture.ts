/** A module that takes longer to load than any test waits. */
export default await new Promise((resolve) => setTimeout(resolve, 3_600_000))
