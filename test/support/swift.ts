import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { freePort } from '../../scripts/free-port.ts'

/** Why a test of S3 is skipped: false where OpenStack Swift is installed. */
export const withoutSwift = existsSync('/usr/bin/swift-proxy-server') && existsSync('/usr/bin/memcached') ? false : 'Swift is not installed'

/** Who may use the server. */
export const swiftCredentials = { accessKeyId: 'test:tester', secretAccessKey: 'testing' }

/**
 * OpenStack Swift, which speaks S3 and verifies signatures of version 4: its four servers and their cache, in a folder of their own.
 * @returns its address.
 */
export async function startSwift (t: Test): Promise<string> {
  // A path that is short enough, on a file system with extended attributes.
  const folder = await mkdtemp(join(tmpdir(), 'dispatch-swift-'))
  const stores = ['account', 'container', 'object']
  const ports = await Promise.all(['proxy', 'memcached', ...stores].map(() => freePort()))
  const [port = 0, cache = 0, ...places] = ports
  await mkdir(join(folder, 'devices/disk'), { recursive: true })
  for (const [index, name] of stores.entries()) {
    const ring = (...args: string[]) => spawnSync('swift-ring-builder', [join(folder, `${name}.builder`), ...args])
    ring('create', '2', '1', '1')
    ring('add', `r1z1-127.0.0.1:${places[index] ?? 0}/disk`, '1')
    ring('rebalance')
    await writeFile(join(folder, `${name}.conf`), configuration(folder, places[index] ?? 0, name, {}))
  }
  const filters = {
    catch_errors: '',
    gatekeeper: '',
    memcache: `memcache_servers = 127.0.0.1:${cache}`,
    s3api: '',
    tempauth: 'user_test_tester = testing .admin',
    slo: ''
  }
  await writeFile(join(folder, 'proxy.conf'), configuration(folder, port, 'proxy', filters))
  const children = [
    spawn('memcached', ['-u', userInfo().username, '-l', '127.0.0.1', '-p', String(cache)], { stdio: 'ignore' }),
    ...[...stores, 'proxy'].map((name) => spawn(`swift-${name}-server`, [join(folder, `${name}.conf`)], { stdio: 'ignore' }))
  ]
  t.teardown(async () => {
    await Promise.all(children.map(stop))
    await rm(folder, { recursive: true })
  })
  const url = `http://127.0.0.1:${port}`
  // The proxy answers before the servers behind it do.
  for (const place of [...places, port]) {
    while (!await answers(`http://127.0.0.1:${place}`)) {
      if (children.some(({ exitCode }) => exitCode !== null)) throw new Error('Swift did not start.')
      await pause(50)
    }
  }
  return url
}

/** The file of one server: what a request passes through before it, each with its options. */
function configuration (folder: string, port: number, server: string, filters: Readonly<Record<string, string>>): string {
  return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${folder}
devices = ${folder}/devices
mount_check = false
[pipeline:main]
pipeline = ${Object.keys(filters).join(' ')} ${server}-server
${Object.entries(filters).map(([name, options]) => `[filter:${name}]\nuse = egg:swift#${name}\n${options}`).join('\n')}
[app:${server}-server]
use = egg:swift#${server}
${server === 'proxy' ? 'account_autocreate = true' : ''}
`
}

async function stop (child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

const answers = (url: string): Promise<boolean> => fetch(url).then(() => true, () => false)
