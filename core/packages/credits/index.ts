/** Money: what a dispatch costs, what it holds of a company's credits, what it is charged, and how much a budget allows. */
export { type Budget, addBudget, budgetScopes, budgetUnits, changeBudget, listBudgets, listBudgetsToMail, listCompaniesToNotify,
  markNotified, noteMailed, removeBudget, requireBudget } from './budgets.ts'
export { hasFreeCredits, insufficientCredits, shortOf, withCreditCheck } from './cover.ts'
export { findHold, listHolds } from './holds.ts'
export { type CreditChange, type Credited, changeCredits, openCredits, readCredits } from './ledger.ts'
export { type Prices, heldAtFirst, priceOf } from './prices.ts'
