import t from 'tap'
import { readConfig } from '../../plugins/config.ts'

await t.test('the disk of the providers is an absolute path, or there is none', (t) => {
  t.equal(readConfig({}).diskRoot, undefined)
  t.equal(readConfig({ DISPATCH_DISK_ROOT: '/srv/dispatch' }).diskRoot, '/srv/dispatch')
  for (const path of ['files', './files']) t.throws(() => readConfig({ DISPATCH_DISK_ROOT: path }), /DISPATCH_DISK_ROOT/)
  t.end()
})
