// Long lists: an order is chosen to see it, so the list is asked for at once, and a view that is saved has it, too.

document.addEventListener("change", ({ target }) => target.matches(".list-search select[name=sort]") && target.form.requestSubmit());
