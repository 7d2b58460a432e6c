// Space used by a user's recordings, and its limit.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Account, Client } from '../../../sdk/index.ts'
import { readGigabytes, writeGigabytes } from '../../model/byte-size.ts'
import { Button } from '../../parts/button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Field } from '../../parts/field.tsx'
import { useFieldProblems } from '../../parts/field-problems.tsx'
import { useSizes } from '../../parts/sizes.ts'
import { useTexts } from '../../texts/texts.tsx'

export function UserStorage({ user, client }: { readonly user: Account; readonly client: Client }) {
  const { users: texts, loading } = useTexts()
  const queries = useQueryClient()
  const sizes = useSizes()
  const queryKey = ['account', 'users', user.id, 'storage']
  const storage = useQuery({ queryKey, queryFn: ({ signal }) => client.users.getStorage(user.id, { signal }) })
  /** As typed; undefined until edited. */
  const [typed, setTyped] = useState<string>()
  const limit = useMutation({
    mutationFn: (max_bytes: number | null) => client.users.updateStorage(user.id, { max_bytes }),
    onSuccess: (answer) => {
      queries.setQueryData(queryKey, answer)
      setTyped(undefined)
    },
  })
  const problem = useFieldProblems(limit.error).max_bytes
  if (!storage.data) {
    return storage.error ? <Failure error={storage.error} onAgain={() => storage.refetch()} /> : <p>{loading}</p>
  }
  const present = writeGigabytes(storage.data.max_bytes)
  const wanted = readGigabytes(typed ?? present)
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (wanted !== undefined && !limit.isPending) limit.mutate(wanted)
  }
  return (
    <form className="user-storage" onSubmit={save}>
      <Field
        label={texts.limit}
        hint={texts.limitHint(sizes(storage.data.used_bytes))}
        type="number"
        inputMode="decimal"
        min={0.01}
        step="any"
        placeholder={texts.noLimit}
        value={typed ?? present}
        problem={problem}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <Button
        type="submit"
        look="quiet"
        isBusy={limit.isPending}
        disabled={wanted === undefined || wanted === storage.data.max_bytes}
      >
        {texts.saveLimit}
      </Button>
      {limit.error && problem === undefined && <Failure error={limit.error} />}
      {limit.isSuccess && typed === undefined && (
        <p className="hint" role="status">
          {texts.limitSaved}
        </p>
      )}
    </form>
  )
}
