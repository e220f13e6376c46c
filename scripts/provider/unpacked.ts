import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Does something with the files of a package in a folder of their own, which is removed afterwards. */
export async function withUnpacked<Result> (
  files: ReadonlyMap<string, Uint8Array>,
  work: (folder: string) => Promise<Result>
): Promise<Result> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'dispatch-pack-')))
  try {
    for (const [path, content] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), content)
    }
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}
