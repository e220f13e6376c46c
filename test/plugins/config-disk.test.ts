import t from 'tap'
import { readConfig } from '../../plugins/config/config.ts'
import { has } from '../support/matching.ts'
import { startService } from '../support/service.ts'

await t.test('the disk of the providers is an absolute path, or there is none', (t) => {
  t.equal(readConfig({}).diskRoot, undefined)
  t.equal(readConfig({ DISPATCH_DISK_ROOT: '/srv/dispatch' }).diskRoot, '/srv/dispatch')
  for (const path of ['files', './files']) t.throws(() => readConfig({ DISPATCH_DISK_ROOT: path }), /DISPATCH_DISK_ROOT/)
  t.end()
})

await t.test('a provider that writes to the disk is available where there is one, and only there', async (t) => {
  const availableWith = async (config: { diskRoot?: string }): Promise<string[]> => {
    const { send } = await startService(t, { config })
    has(t, await send('PUT', '/api/v1/company/providers/disk', { body: { settings: {} } }), { status: 200 })
    return (await send('GET', '/api/v1/my/config')).body.services.upload.available
  }
  t.strictSame(await availableWith({}), ['simulator'])
  t.strictSame(await availableWith({ diskRoot: t.testdir() }), ['disk', 'simulator'])
})
