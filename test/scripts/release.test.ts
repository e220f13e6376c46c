import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { contains, has } from '../support/matching.ts'

const here = fileURLToPath(new URL('../..', import.meta.url))
const { version: now } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
const [major = 0] = String(now).split('.').map(Number)
const next = `${major + 1}.0.0`

/** What a release changes, in a repository of its own whose last commits have these messages. */
function checkout (t: Test, { changes = '## Unreleased\n\n- more\n', commits = ['Begin'], digest = `@sha256:${'0'.repeat(64)}` } = {}) {
  const root = t.testdir({ 'CHANGELOG.md': `# Changelog\n\n${changes}`, test: { e2e: { 'last-release.txt': 'none\n' } } })
  const files = ['package.json', 'package-lock.json', 'core/package.json', ...globSync('core/packages/*/package.json', { cwd: here }),
    ...globSync('scripts/packaging/kubernetes/*.yaml', { cwd: here })]
  for (const file of files) {
    mkdirSync(join(root, dirname(file)), { recursive: true })
    cpSync(join(here, file), join(root, file))
  }
  for (const file of ['Containerfile', 'compose.yaml'].map((name) => join('scripts/packaging', name))) {
    const pinned = readFileSync(join(here, file), 'utf8').replaceAll(/(docker\.io\/[\w./:-]+)(@sha256:\w+)?/g, `$1${digest}`)
    writeFileSync(join(root, file), pinned)
  }
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: root, encoding: 'utf8' }).trim()
  git('init', '--quiet')
  git('add', '.')
  const hashes = commits.map((message) => {
    git('commit', '--quiet', '--allow-empty', '--message', message)
    return git('rev-parse', 'HEAD')
  })
  const release = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [join(here, 'scripts/release.ts'), ...args], { cwd: root, encoding: 'utf8' })
    return { status, stderr: stderr.trim() }
  }
  return { root, hashes, release, git, text: (file: string) => readFileSync(join(root, file), 'utf8') }
}

await t.test('a release is one version in all packages, the lock file, the manifests and the changelog', (t) => {
  const { release, hashes, text, root } = checkout(t, { commits: ['Begin', `Release ${now}`, 'More'] })
  t.same(release(next), { status: 0, stderr: '' })
  for (const file of ['package.json', 'core/package.json', ...globSync('core/packages/*/package.json', { cwd: root })]) {
    const { version, dependencies = {} } = JSON.parse(text(file))
    const own = Object.entries(dependencies).flatMap(([name, wanted]) => name.startsWith('@dispatch/') ? [wanted] : [])
    t.same(new Set([version, ...own]), new Set([next]), file)
  }
  has(t, JSON.parse(text('package-lock.json')), {
    version: next,
    packages: { '': { version: next }, core: { version: next, dependencies: { '@dispatch/common': next } } }
  })
  contains(t, text('scripts/packaging/kubernetes/dispatch.yaml'), `image: document-dispatch:${next}\n`)
  t.equal(text('CHANGELOG.md'), `# Changelog\n\n## ${next}, ${new Date().toISOString().slice(0, 10)}\n\n- more\n`)
  t.equal(text('test/e2e/last-release.txt'), `${hashes[1] ?? ''}\n`)
  t.end()
})

await t.test('a release whose images of others have no digest is refused, and names each of them', (t) => {
  for (const digest of ['', '@sha256:0123']) {
    const { release, git } = checkout(t, { digest })
    const { status, stderr } = release(next)
    t.equal(status, 1)
    contains(t, stderr,
      /^docker\.io\/library\/node:26-trixie-slim, docker\.io\/library\/postgres:18, docker\.io\/library\/caddy:2: .*@sha256:/)
    t.equal(git('status', '--porcelain'), '', 'nothing is written')
  }
  t.end()
})

await t.test('what is no newer version, or changes nothing, is refused, and nothing is written', (t) => {
  const { release, git, root } = checkout(t)
  t.same(release(), { status: 1, stderr: 'Expected one version: npm run release -- 1.2.3.' })
  t.same(release(next, next), { status: 1, stderr: 'Expected one version: npm run release -- 1.2.3.' })
  t.same(release(now), { status: 1, stderr: `This is ${now}; the version of a release is newer.` })
  writeFileSync(join(root, 'CHANGELOG.md'), `# Changelog\n\n## ${now}, 2026-01-01\n`)
  t.same(release(next), { status: 1, stderr: 'CHANGELOG.md has no section "## Unreleased": what does the release change?' })
  t.equal(git('status', '--porcelain'), 'M CHANGELOG.md')
  t.equal(checkout(t).release(next).status, 0, 'the first release has none before it')
  t.end()
})
