import { MasterKeyError, readMasterKey } from '@dispatch/accounts'
import { randomBytes } from 'node:crypto'
import { chmod, chown, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'

const key = randomBytes(32)

await t.test('the variable holds the key in base64, and wins over the file', async (t) => {
  const file = join(t.testdir({ 'master.key': randomBytes(32).toString('base64') }), 'master.key')
  t.same(await readMasterKey({ value: key.toString('base64'), made: file }), key)
  t.same(await readMasterKey({ value: ` ${key.toString('base64')}\n` }), key)
})

await t.test('without the variable the file holds the key', async (t) => {
  const file = join(t.testdir({ 'master.key': `${key.toString('base64')}\n` }), 'master.key')
  t.same(await readMasterKey({ made: file }), key)
  t.same(await readMasterKey({ value: '', made: file }), key)
})

await t.test('a file that the operator keeps must be there, and be nobody else\'s to read', async (t) => {
  const file = join(t.testdir({ key: `${key.toString('base64')}\n` }), 'key')
  const variable = 'DISPATCH_MASTER_KEY_PREVIOUS'
  for (const mode of [0o600, 0o400]) {
    await chmod(file, mode)
    t.same(await readMasterKey({ file }), key)
  }
  for (const mode of [0o604, 0o602, 0o620, 0o644, 0o660, 0o666]) {
    await chmod(file, mode)
    await t.rejects(readMasterKey({ file }, variable), {
      name: 'MasterKeyError',
      message: `${file} of ${variable}_FILE can be read or changed by other users (mode ${mode.toString(8)}): leave it to the service ` +
        `alone, for example with \`chmod 600\`.`
    })
  }
  await t.rejects(readMasterKey({ file: `${file}s` }), { name: 'MasterKeyError', message: `${file}s cannot be read (ENOENT).` })
})

await t.test('a group may read root\'s file alone', { skip: process.getuid?.() === 0 ? false : 'needs root' }, async (t) => {
  const file = join(t.testdir({ key: key.toString('base64') }), 'key')
  await chmod(file, 0o640)
  t.same(await readMasterKey({ file }), key)
  await chown(file, 65534, 65534)
  await t.rejects(readMasterKey({ file }), { name: 'MasterKeyError' })
})

await t.test('an absent file is made for its owner alone, and nothing is left beside it', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'master.key')
  const made = await readMasterKey({ made: file })
  t.equal(made.length, 32)
  t.equal((await stat(file)).mode & 0o777, 0o600)
  t.same(await readdir(folder), ['master.key'])
  t.same(await readMasterKey({ made: file }), made)
})

await t.test('processes that start together agree on one key', async (t) => {
  const folder = t.testdir()
  const keys = await Promise.all(Array.from({ length: 10 }, () => readMasterKey({ made: join(folder, 'master.key') })))
  t.equal(new Set(keys.map((each) => each.toString('hex'))).size, 1)
  t.same(await readdir(folder), ['master.key'])
})

await t.test('neither variable nor file is refused with what to do', async (t) => {
  await t.rejects(readMasterKey({}), { name: 'MasterKeyError', message: /DISPATCH_MASTER_KEY is not set.*openssl rand -base64 32/ })
})

await t.test('anything but 32 bytes in base64 is refused without being shown', async (t) => {
  const malformed = [
    'hunter22',
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    key.toString('hex'),
    `${key.toString('base64')}A`,
    `!${key.toString('base64').slice(1)}`
  ]
  for (const value of malformed) {
    await t.rejects(readMasterKey({ value }), { name: 'MasterKeyError', message: /^DISPATCH_MASTER_KEY does not hold 32 bytes/ })
    const error: unknown = await readMasterKey({ value }).catch((cause: unknown) => cause)
    t.notOk(error instanceof MasterKeyError && error.message.includes(value))
  }
})

await t.test('a malformed file is refused and kept as it is', async (t) => {
  const file = join(t.testdir(), 'master.key')
  await writeFile(file, 'half a k')
  await t.rejects(readMasterKey({ made: file }), { name: 'MasterKeyError', message: /master\.key does not hold 32 bytes/ })
  t.equal(await readFile(file, 'utf8'), 'half a k')
})

await t.test('a file that cannot be read or made is named', async (t) => {
  const folder = t.testdir({ directory: {}, file: '' })
  await t.rejects(readMasterKey({ made: join(folder, 'directory') }), {
    name: 'MasterKeyError',
    message: /directory cannot be read \(EISDIR\)/
  })
  await t.rejects(readMasterKey({ made: join(folder, 'absent', 'master.key') }), {
    name: 'MasterKeyError',
    message: /master\.key cannot be created \(ENOENT\)/
  })
})
