// Column definitions that many tables share.

import type { ColumnDefinitionBuilder } from 'kysely'

type Column = ColumnDefinitionBuilder

export const required = (column: Column) => column.notNull()

export const unique = (column: Column) => column.notNull().unique()

/** 0 or 1; 0 by default. */
export const flag = (column: Column) => column.notNull().defaultTo(0)

/** A primary key that is also a reference. The row is deleted with the row it refers to. */
export const keyOf = (target: string) => (column: Column) => column.primaryKey().references(target).onDelete('cascade')

/** A reference. The row is deleted with the row it refers to. */
export const belongsTo = (target: string) => (column: Column) => column.notNull().references(target).onDelete('cascade')

/** The same for a reference that may be null. */
export const mayBelongTo = (target: string) => (column: Column) => column.references(target).onDelete('cascade')
