// The line above a list: what to look for in it, and whatever else narrows it down.
import type { ComponentChildren } from "preact";

type SearchFormProps = {
  label: string;
  placeholder: string;
  search: string;
  setSearch: (text: string) => void;
  children?: ComponentChildren;
};

export function SearchForm({ label, placeholder, search, setSearch, children }: SearchFormProps) {
  return (
    <search>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <label>
          {label}{" "}
          <input
            type="search"
            value={search}
            placeholder={placeholder}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
        {children}
      </form>
    </search>
  );
}
