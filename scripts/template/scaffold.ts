export async function scaffold (_: { name: string, directory: string, taken: string }): Promise<string> { throw new Error('later') }
