// Loads a long list as soon as the user chooses an order, so that a saved view also includes the order.

document.addEventListener("change", ({ target }) => target.matches(".list-search select[name=sort]") && target.form.requestSubmit());
