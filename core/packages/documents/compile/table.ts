import type { Align, Column, Table, Total } from '../model/blocks.ts'
import type { Cell, ResolvedColumn, ResolvedTotal, TableBlock, TableSection, TextRun } from '../model/document.ts'
import { compileCell } from './cell.ts'
import { type CompileContext, contextBelow, reportFault } from './compile-context.ts'
import { compileCondition } from './condition.ts'
import { compileLoop } from './loop.ts'
import { compileProse } from './prose.ts'
import type { Scope } from './scope.ts'

type When = { holds: (scope: Scope) => boolean }
type CompiledColumn = When & { header: (scope: Scope) => TextRun[], width: number, align: Align, cell: (scope: Scope) => Cell }
type CompiledTotal = When & {
  turns: (scope: Scope) => Iterable<Scope>
  label: (scope: Scope) => TextRun[]
  strong: boolean
  cell: (scope: Scope) => Cell
}

/** Compiles a table: a row for each item of its list, and the columns and totals whose `if` holds. A table without columns is left out. */
export function compileTable (table: Table, site: CompileContext): (scope: Scope) => TableBlock | undefined {
  const { sections, inside } = compileSections(table, site)
  const columns = table.columns.map((column, index) =>
    compileColumn(column, contextBelow(site, 'columns', index), contextBelow(inside, 'columns', index))
  )
  const totals = (table.totals ?? []).map((total, index) => compileTotal(total, contextBelow(site, 'totals', index)))
  return (scope) => {
    const shown = columns.filter(({ holds }) => holds(scope))
    if (shown.length === 0) return undefined
    return {
      kind: 'table',
      columns: shown.map(({ header, width, align }): ResolvedColumn => ({ header: header(scope), width, align })),
      sections: Array.from(sections(scope), ({ heading, turns, totals }): TableSection => ({
        heading,
        rows: Array.from(turns, (turn) => shown.map(({ cell }) => cell(turn))),
        totals
      })),
      totals: resolveTotals(totals, scope)
    }
  }
}

type Section = { heading: TextRun[], turns: Iterable<Scope>, totals: ResolvedTotal[] }
type Sections = { sections: (scope: Scope) => Iterable<Section>, inside: CompileContext }

/** The sections of a table: one for each group, or a single one. `inside` is the context of the rows' cells. */
function compileSections ({ groups, ...table }: Table, site: CompileContext): Sections {
  if (groups === undefined) {
    const { turns, inside } = compileLoop(table, site)
    return { inside, sections: (scope) => [{ heading: [], turns: turns(scope), totals: [] }] }
  }
  const outer = compileLoop(groups, contextBelow(site, 'groups'))
  const heading = compileProse(groups.heading, contextBelow(outer.inside, 'heading'))
  const totals = (groups.totals ?? []).map((total, index) => compileTotal(total, contextBelow(outer.inside, 'totals', index)))
  const { turns, inside } = compileLoop(table, { ...outer.inside, at: site.at })
  return {
    inside,
    *sections (scope) {
      for (const turn of outer.turns(scope)) yield { heading: heading(turn), turns: turns(turn), totals: resolveTotals(totals, turn) }
    }
  }
}

function resolveTotals (totals: readonly CompiledTotal[], scope: Scope): ResolvedTotal[] {
  return totals.flatMap(({ turns, holds, label, cell, strong }) =>
    Array.from(turns(scope)).filter(holds).map((turn) => ({ label: label(turn), cell: cell(turn), strong }))
  )
}

/** `outside` is the context of the header and the condition, `inside` that of the cells. */
function compileColumn (column: Column, outside: CompileContext, inside: CompileContext): CompiledColumn {
  return {
    holds: compileCondition(column.if, contextBelow(outside, 'if')),
    header: compileProse(column.header, contextBelow(outside, 'header')),
    width: column.width ?? 1,
    align: column.align ?? (column.type === 'money' || column.type === 'number' || column.type === 'percent' ? 'end' : 'start'),
    cell: compileCell(column, inside)
  }
}

/** A total, or one for each item of a list. */
function compileTotal ({ each, as, ...total }: Total, site: CompileContext): CompiledTotal {
  if ((each === undefined) !== (as === undefined)) reportFault(site, 'Expected both "each" and "as", or neither.')
  const { turns, inside } = each === undefined || as === undefined
    ? { turns: (scope: Scope) => [scope], inside: site }
    : compileLoop({ each, as }, site)
  return {
    turns,
    holds: compileCondition(total.if, contextBelow(inside, 'if')),
    label: compileProse(total.label, contextBelow(inside, 'label')),
    strong: total.strong ?? false,
    cell: compileCell(total, inside)
  }
}
