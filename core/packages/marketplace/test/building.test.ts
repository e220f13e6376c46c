import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { buildingFile, buildingInWords } from '../index.ts'

void t.test('a catalog that a process is building says how far that is, and no longer once the process has ended', async (t) => {
  const folder = t.testdir()
  const progress = (pid: number): Promise<void> => writeFile(join(folder, buildingFile), JSON.stringify({ pid, done: 3, of: 12 }))
  t.same(await buildingInWords([folder, 'https://catalogs.example/']), [])
  await progress(process.pid)
  t.same(await buildingInWords([folder]), [
    `The catalog ${folder} is being built: 3 of 12 adapters are in it. The others follow by themselves.`
  ])
  // Linux gives no process such a number.
  await progress(2 ** 30)
  t.same(await buildingInWords([folder]), [])
})
