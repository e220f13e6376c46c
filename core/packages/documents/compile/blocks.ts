import { pointer } from '@dispatch/common'
import type { Block } from '../model/blocks.ts'
import type { ResolvedBlock, ResolvedStyle } from '../model/document.ts'
import { renderLimits } from '../model/limits.ts'
import type { IncludedPartial } from '../model/model.ts'
import { points } from '../model/paper.ts'
import { colorOf } from '../model/style.ts'
import { compileCode } from './code.ts'
import { type CompileContext, contextBelow, reportFault } from './compile-context.ts'
import { compileCondition } from './condition.ts'
import { type Assets, compileImage } from './image.ts'
import { compileLoop } from './loop.ts'
import { compileButton, compileSignature } from './marks.ts'
import { compileProse } from './prose.ts'
import { type Scope, spend } from './scope.ts'
import { compileTable } from './table.ts'
import { compileHeading, compileKeyValues, compileText, splitLines } from './text.ts'

/** The facts that are the same for all blocks of a template. */
export type BlockResources = {
  readonly style: ResolvedStyle
  readonly assets: Assets
  readonly partials: Readonly<Record<string, IncludedPartial>>
}

/** Resolves a block with these data, and adds the result to a list of resolved blocks. */
export type CompiledBlock = (scope: Scope, out: ResolvedBlock[]) => void

/** Compiles blocks in their order. `placeOf`: the place of each for its author, where that is not its index. */
export function compileBlocks (
  blocks: readonly Block[],
  site: CompileContext,
  setting: BlockResources,
  placeOf: (site: CompileContext, index: number) => CompileContext = contextBelow
): CompiledBlock {
  const inside = { ...site, depth: site.depth + 1 }
  if (inside.depth > renderLimits.depth && blocks.length > 0) {
    reportFault(site, `Blocks may be nested at most ${renderLimits.depth} levels deep.`)
    return () => undefined
  }
  const compiled = blocks.map((block, index) => compileBlock(block, placeOf(inside, index), setting))
  return (scope, out) => {
    for (const block of compiled) block(scope, out)
  }
}

/** Compiles blocks inside another block, where an address is not permitted. */
function compileInside (blocks: readonly Block[], site: CompileContext, setting: BlockResources): CompiledBlock {
  return compileBlocks(blocks, { ...site, isInside: true }, setting)
}

/** The resolved blocks of these blocks. */
export function resolveBlocks (block: CompiledBlock, scope: Scope): ResolvedBlock[] {
  const out: ResolvedBlock[] = []
  block(scope, out)
  return out
}

function compileBlock (block: Block, site: CompileContext, setting: BlockResources): CompiledBlock {
  if ('if' in block) return compileIf(block, site, setting)
  if ('each' in block) return compileEach(block, site, setting)
  if ('partial' in block) return compilePartial(block.partial, contextBelow(site, 'partial'), setting)
  const resolve = compileLeaf(block, site, setting)
  return (scope, out) => {
    spend(scope, 'blocks', 1)
    const resolved = resolve(scope)
    if (resolved !== undefined) out.push(resolved)
  }
}

/** Compiles the blocks of a partial in the place where it is included, with the variables that are known there. */
function compilePartial (name: string, site: CompileContext, setting: BlockResources): CompiledBlock {
  const partial = Object.hasOwn(setting.partials, name) ? setting.partials[name] : undefined
  const { within, includedAt, counted } = site.inclusion
  if (!includedAt.has(name)) includedAt.set(name, site.at)
  const isFull = counted.blocks > renderLimits.includedBlocks
  counted.blocks += partial?.blocks.length ?? 0
  if (partial === undefined) reportFault(site, `There is no partial "${name}".`, 'unknown_partial')
  else if (within.includes(name)) reportFault(site, `The partial "${name}" includes itself.`, 'partial_cycle')
  else if (counted.blocks <= renderLimits.includedBlocks) {
    const inside = { ...site, at: pointer('/partials', name), inclusion: { ...site.inclusion, within: [...within, name] } }
    return compileBlocks(partial.blocks, inside, setting)
  } else if (!isFull) reportFault(site, `A template includes at most ${renderLimits.includedBlocks} blocks of partials.`, 'too_large')
  return () => undefined
}

type Leaf = Exclude<Block, { if: string } | { each: string } | { partial: string }>
type Resolve = (scope: Scope) => ResolvedBlock | undefined

function compileLeaf (block: Leaf, site: CompileContext, setting: BlockResources): Resolve {
  if ('heading' in block) return compileHeading(block.heading, contextBelow(site, 'heading'), setting.style)
  if ('paragraph' in block) return compileText(block.paragraph, contextBelow(site, 'paragraph'), setting.style)
  if ('columns' in block) return compileColumns(block.columns, contextBelow(site, 'columns'), setting)
  if ('keyValues' in block) return compileKeyValues(block.keyValues, contextBelow(site, 'keyValues'))
  if ('table' in block) return compileTable(block.table, contextBelow(site, 'table'))
  if ('image' in block) return compileImage(block.image, contextBelow(site, 'image'), setting.assets)
  if ('code' in block) return compileCode(block.code, contextBelow(site, 'code'))
  if ('group' in block) return compileGroup(block.group, contextBelow(site, 'group'), setting)
  if ('address' in block) return compileAddress(block.address, contextBelow(site, 'address'), setting)
  if ('button' in block) return compileButton(block.button, contextBelow(site, 'button'))
  if ('signature' in block) return compileSignature(block.signature, contextBelow(site, 'signature'))
  if ('spacer' in block) return always({ kind: 'spacer', height: points(block.spacer) })
  if ('rule' in block) {
    return always({ kind: 'rule', color: colorOf(block.rule.color ?? 'muted', setting.style), thickness: block.rule.thickness ?? 0.5 })
  }
  return always({ kind: 'pageBreak' })
}

function always (block: ResolvedBlock): Resolve {
  return () => block
}

function compileIf (block: Extract<Block, { if: string }>, site: CompileContext, setting: BlockResources): CompiledBlock {
  const holds = compileCondition(block.if, contextBelow(site, 'if'))
  const then = compileBlocks(block.then, contextBelow(site, 'then'), setting)
  const otherwise = compileBlocks(block.else ?? [], contextBelow(site, 'else'), setting)
  return (scope, out) => {
    ;(holds(scope) ? then : otherwise)(scope, out)
  }
}

function compileEach (block: Extract<Block, { each: string }>, site: CompileContext, setting: BlockResources): CompiledBlock {
  const { turns, inside } = compileLoop(block, site)
  const blocks = compileBlocks(block.do, contextBelow(inside, 'do'), setting)
  if (block.pageBreak !== true) {
    return (scope, out) => {
      for (const turn of turns(scope)) blocks(turn, out)
    }
  }
  return (scope, out) => {
    let isFirst = true
    for (const turn of turns(scope)) {
      const made = resolveBlocks(blocks, turn)
      if (made.length > 0 && !isFirst) out.push({ kind: 'pageBreak' })
      isFirst &&= made.length === 0
      for (const block of made) out.push(block)
    }
  }
}

function compileColumns (source: Extract<Leaf, { columns: unknown }>['columns'], site: CompileContext, setting: BlockResources): Resolve {
  const columns = source.items.map((item, index) => ({
    width: item.width ?? 1,
    blocks: compileInside(item.do, contextBelow(site, 'items', index, 'do'), setting)
  }))
  const gap = points(source.gap ?? 5)
  const height = points(source.height ?? 0)
  return (scope) => ({
    kind: 'columns',
    gap,
    height,
    columns: columns.map(({ width, blocks }) => ({ width, blocks: resolveBlocks(blocks, scope) }))
  })
}

function compileGroup (source: readonly Block[], site: CompileContext, setting: BlockResources): Resolve {
  const blocks = compileInside(source, site, setting)
  return (scope) => {
    const inside = resolveBlocks(blocks, scope)
    return inside.length === 0 ? undefined : { kind: 'group', blocks: inside }
  }
}

/** An address is permitted in the body only, not inside other blocks, because its place is fixed on the page. */
function compileAddress (source: Extract<Leaf, { address: unknown }>['address'], site: CompileContext, setting: BlockResources): Resolve {
  if (site.pageFields || site.isInside) {
    reportFault(site, 'An address is allowed directly in the body only: its place on the page is fixed.')
  }
  const text = compileProse(source.text, contextBelow(site, 'text'))
  const sender = compileProse(source.sender ?? '', contextBelow(site, 'sender'))
  const beside = compileInside(source.beside ?? [], contextBelow(site, 'beside'), setting)
  return (scope) => ({
    kind: 'address',
    window: source.window,
    lines: splitLines(text(scope)),
    sender: sender(scope),
    beside: resolveBlocks(beside, scope)
  })
}
