// SPDX-License-Identifier: GPL-2.0-only
/* Objects that the scheduler makes, and the trees and lists it keeps them in. */
#include <linux/bpf.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include "scx.h"

/* The compiled source gives the object's size for its type. */
void *native_bpf_obj_new_impl(u64 size, void *meta)
{
	return shim_scx_alloc("an object of bpf_obj_new()", size);
}

void native_bpf_obj_drop_impl(void *object, void *meta)
{
	shim_scx_free(object);
}

void *native_bpf_kptr_xchg(void **where, void *pointer)
{
	shim_scx_check(where, sizeof(*where), true);
	hw_hot_line(where, true);
	shim_scx_charge(hw_costs.lock);
	return xchg(where, pointer);
}

/* ------------------------------------------------------------------ trees */

struct tree_node {				/* in struct bpf_rb_node */
	struct rb_node	rb;
	void		*owner;		/* NULL: in no tree */
};

int native_bpf_rbtree_add_impl(struct rb_root_cached *root, struct tree_node *node,
			       bool (*less)(struct tree_node *a, const struct tree_node *b), void *meta, u64 off)
{
	struct rb_node **link = &root->rb_root.rb_node, *parent = NULL;
	bool leftmost = true;

	if (node->owner)
		return -EINVAL;
	while (*link) {
		parent = *link;
		shim_scx_calls_back();
		if (less(node, rb_entry(parent, struct tree_node, rb))) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	rb_link_node(&node->rb, parent, link);
	rb_insert_color_cached(&node->rb, root, leftmost);
	node->owner = root;
	return 0;
}

struct tree_node *native_bpf_rbtree_remove(struct rb_root_cached *root, struct tree_node *node)
{
	if (node->owner != root)
		return NULL;
	rb_erase_cached(&node->rb, root);
	node->owner = NULL;
	return node;
}

struct tree_node *native_bpf_rbtree_first(struct rb_root_cached *root)
{
	return rb_entry_safe(rb_first_cached(root), struct tree_node, rb);
}

/* ------------------------------------------------------------------ lists */

struct list_link {				/* in struct bpf_list_node */
	struct list_head list;
	void		*owner;
};

static int push(struct list_head *head, struct list_link *link, bool front)
{
	if (!head->next)
		INIT_LIST_HEAD(head);
	if (link->owner)
		return -EINVAL;
	link->owner = head;
	list_add(&link->list, front ? head : head->prev);
	return 0;
}

static struct list_link *pop(struct list_head *head, bool front)
{
	struct list_link *link;

	if (!head->next || list_empty(head))
		return NULL;
	link = list_entry(front ? head->next : head->prev, struct list_link, list);
	list_del_init(&link->list);
	link->owner = NULL;
	return link;
}

int native_bpf_list_push_front_impl(struct list_head *head, struct list_link *link, void *meta, u64 off)
{
	return push(head, link, true);
}

int native_bpf_list_push_back_impl(struct list_head *head, struct list_link *link, void *meta, u64 off)
{
	return push(head, link, false);
}

struct list_link *native_bpf_list_pop_front(struct list_head *head)
{
	return pop(head, true);
}

struct list_link *native_bpf_list_pop_back(struct list_head *head)
{
	return pop(head, false);
}
